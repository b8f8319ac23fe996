"""Install packages by pip with one line of progress: python tools/install.py WHAT ARGUMENT…

A terminal sees the line change; elsewhere a line is printed every ten seconds. The output of
pip is shown only if it failed.
"""

import re
import subprocess
import sys
import time

PROGRESS = re.compile(r"(?:Collecting|Obtaining|Building editable for) ([\w.-]+)")


def install(what: str, arguments: list[str]) -> int:
    """Run pip and return its exit status."""
    start = shown = time.monotonic()
    is_terminal = sys.stdout.isatty()
    options = ["--disable-pip-version-check", "--progress-bar", "off"]
    command = [sys.executable, "-m", "pip", "install", *options, *arguments]
    lines: list[str] = []
    n_packages = 0
    print(f"Installing {what}", end="" if is_terminal else "\n", flush=True)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            lines.append(line)
            if found := PROGRESS.match(line):
                n_packages += 1
                state = f"{n_packages} packages found, now {found[1]}"
            elif line.startswith("Installing collected packages"):
                state = f"unpacking {n_packages} packages"
            else:
                continue
            seconds = time.monotonic() - start
            if is_terminal:
                print(f"\r\033[KInstalling {what}: {state} ({seconds:.0f} s)", end="", flush=True)
            elif time.monotonic() - shown >= 10 or state.startswith("unpacking"):
                print(f"  {state} ({seconds:.0f} s)", flush=True)
                shown = time.monotonic()
    seconds = time.monotonic() - start
    if pip.returncode:
        print(f"\n{''.join(lines)}Installing {what} failed: see above.", file=sys.stderr)
    elif is_terminal:
        print(f"\r\033[KInstalled {what} in {seconds:.0f} s")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(install(sys.argv[1], sys.argv[2:]))
