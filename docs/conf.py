"""Configure the site that `make docs` builds: Sphinx, Markdown, no files from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import conjunct

HERE = Path(__file__).parent

project = "conjunct"
author = "the conjunct developers"
version = release = conjunct.__version__
html_title = f"conjunct {release}"
html_theme = "furo"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_static_path: list[str] = []
html_extra_path = ["model-schema.json", "quality.csv", "tags-to-insight.ipynb", "live"]
(HERE / "live").mkdir(exist_ok=True)  # write_report fills it

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
templates_path = ["_templates"]
exclude_patterns: list[str] = []
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    # what every estimator of scikit-learn has is documented there
    "inherited-members": "TransformerMixin, ClassifierMixin, BaseEstimator, "
    "_MetadataRequester, _SetOutputMixin, Exception, Warning, tuple",
}
# a page of its own for each class, with a table of its methods
autosummary_generate = True
autosummary_context = {"without": {"__init__", *dir(tuple), *dir(Exception)}}
html_math_renderer = "mathml"


def draw_gallery(sphinx: Any) -> None:
    """Run the code of the gallery, which writes its pictures."""
    folder = HERE / "gallery"
    folder.mkdir(exist_ok=True)
    page = (HERE / "report.md").read_text(encoding="utf-8").partition("\n## Gallery\n")[2]
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


def write_report(sphinx: Any) -> None:
    """Write the report that the first page shows."""
    import polars as pl

    from conjunct import UFC, Report, datasets

    coco = datasets.load_coco_val2017()
    table = pl.DataFrame(coco.values, schema=list(coco.feature_names))
    report = Report(UFC().fit(table), table, title="Objects in photographs")
    report.save(HERE / "live" / "live-report.html")


def write_helps(sphinx: Any) -> None:
    """Write the --help of each command, for the page of the commands."""
    from conjunct.cli.app import application

    folder = HERE / "helps"
    folder.mkdir(exist_ok=True)
    for command in application().registered_commands:
        name = command.callback.__name__
        done = subprocess.run(
            [sys.executable, "-m", "conjunct", name, "--help"],
            env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
        )
        (folder / f"{name}.txt").write_bytes(done.stdout)


def write_markdown(sphinx: Any, error: Exception | None) -> None:
    """Write files for programs: each page in Markdown, and llms.txt, which lists the pages."""
    if error or sphinx.builder.format != "html":
        return
    index = (HERE / "index.md").read_text(encoding="utf-8")
    sentence = index.split("\n\n")[1].replace("\n", " ")
    lines = ["# conjunct", "", f"> {sentence}"]
    for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", index, re.MULTILINE | re.DOTALL):
        options, _, entries = tree.partition("\n\n")
        lines += ["", "## " + options.partition("\n")[0].removeprefix(":caption: "), ""]
        for entry in entries.split("\n")[:-1]:
            name = re.sub(r".*<(.*)>", r"\1", entry)
            page = (HERE / f"{name}.md").read_text(encoding="utf-8")
            if included := re.match(r"```\{include\} (\S+)", page):
                page = (HERE / included[1]).read_text(encoding="utf-8")
            (Path(sphinx.outdir) / f"{name}.md").write_text(page, encoding="utf-8")
            title = page.partition("\n")[0].removeprefix("# ")
            lines.append(f"- [{title}]({name}.md)")
    (Path(sphinx.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def formula(writer: Any, node: Any) -> None:
    """Draw a formula as MathML, which browsers draw without a script from another host."""
    from docutils.nodes import SkipNode, math_block
    from docutils.utils.math.latex2mathml import tex2mathml

    writer.body.append(str(tex2mathml(node.astext(), as_block=isinstance(node, math_block))))
    raise SkipNode


def skip_member(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn documents, and fitted attributes, which a class lists itself."""
    is_request = name.startswith("set_") and name.endswith("_request")
    is_theirs = str(getattr(member, "__module__", "")).startswith("sklearn")
    is_fitted = name.endswith("_") and not name.endswith("__")
    return True if is_request or is_theirs or is_fitted else None  # None: as Sphinx decides


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip_member)
    app.connect("builder-inited", draw_gallery)
    app.connect("builder-inited", write_helps)
    app.connect("builder-inited", write_report)
    app.connect("build-finished", write_markdown)
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))


# shapes such as (n_rows, n_columns) are no references, though attributes have these names
suppress_warnings = ["ref.python"]
