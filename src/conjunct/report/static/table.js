(() => {
  const table = byId("table");
  const body = table.tBodies[0];
  // what a feature denies is no reason to find it by its pattern
  const byPattern = table.dataset.form === "pattern";
  const patternOf = (cell) => byPattern && cell.querySelector(".pattern");
  const lines = all("tr", body).map((row) => {
    const k = Number(row.dataset.i);
    const cell = row.querySelector(".formula");
    return {
      row,
      k,
      data: report.lines[k],
      text: (patternOf(cell) || cell).textContent.toLowerCase(),
      name: (patternOf(cell) || cell.querySelector(".simplified")).textContent,
      detail: null,
    };
  });
  const search = byId("search");
  const column = byId("with");
  const kind = byId("kind");

  // More rows than fit on a screen are laid out while nobody waits for them.
  const AT_ONCE = 40;
  let waiting = 0;
  function reveal(matching) {
    for (const line of matching.splice(0, AT_ONCE)) {
      line.row.hidden = false;
      if (line.detail) line.detail.hidden = false;
    }
    waiting = matching.length ? requestAnimationFrame(() => reveal(matching)) : 0;
  }

  function filter() {
    cancelAnimationFrame(waiting);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = column.value === "" ? -1 : Number(column.value);
    const matching = [];
    for (const line of lines) {
      const isMade = line.data.sort[2] > 0;
      const matches =
        words.every((word) => line.text.includes(word)) &&
        (wanted < 0 || line.data.with.includes(wanted)) &&
        (kind.value === "" || (kind.value === "made") === isMade);
      if (matches) {
        matching.push(line);
      } else {
        line.row.hidden = true;
        if (line.detail) line.detail.hidden = true;
      }
    }
    const shown = matching.length;
    reveal(matching);
    const noun = lines.length === 1 ? " feature" : " features";
    byId("shown").textContent =
      (shown === lines.length ? "" : shown + " of ") + lines.length + noun;
    byId("nothing").hidden = shown > 0;
  }
  // those that the page has left out until it is open
  addEventListener("load", () => reveal(lines.filter((line) => line.row.hidden)));
  search.addEventListener("input", filter);
  column.addEventListener("change", filter);
  kind.addEventListener("change", filter);

  for (const radio of all('input[name="form"]')) {
    radio.addEventListener("change", () => (table.dataset.form = radio.value));
  }

  function compare(key, sign) {
    if (key === "name") return (a, b) => sign * a.name.localeCompare(b.name) || a.k - b.k;
    const value = (line) => line.data.sort[Number(key)];
    return (a, b) => {
      const left = value(a);
      const right = value(b);
      // what has no value comes last in either order
      if (left === null || right === null) return (left === null) - (right === null) || a.k - b.k;
      return sign * (left - right) || a.k - b.k;
    };
  }

  for (const button of all("button.sort", table)) {
    button.addEventListener("click", () => {
      const heading = button.closest("th");
      const first = button.dataset.sort === "name" ? "ascending" : "descending";
      const now = heading.getAttribute("aria-sort");
      const other = first === "ascending" ? "descending" : "ascending";
      const order = now === first ? other : first;
      for (const one of all("th[aria-sort]", table)) one.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", order);
      lines.sort(compare(button.dataset.sort, order === "ascending" ? 1 : -1));
      const sorted = document.createDocumentFragment();
      for (const line of lines) {
        line.row.hidden = true;
        sorted.append(line.row);
        if (line.detail) {
          line.detail.hidden = true;
          sorted.append(line.detail);
        }
      }
      body.append(sorted);
      filter();
    });
  }

  function detailOf(line) {
    const row = made("tr", undefined, "detail");
    const cell = made("td");
    cell.colSpan = line.row.cells.length;
    const list = made("dl");
    const add = (term, ...parts) => {
      const said = made("dd");
      said.append(...parts);
      list.append(made("dt", term), said);
    };
    const form = (name) => line.row.querySelector(".formula ." + name);
    if (form("pattern")) add("Pattern", named("span", form("pattern").textContent));
    const words = line.row.querySelector(".words");
    if (words) add("In words", named("span", words.textContent));
    const built = line.data.exact || (form("built") || form("simplified")).textContent;
    if (form("built")) {
      add(report.onRows ? "In these rows" : "Simplified", named("code", form("simplified").textContent));
      add("As built", named("code", built));
    } else if (form("pattern")) {
      add("Formula", named("code", built));
    }
    if (line.data.from.length) {
      add("Made from", named("code", line.data.from[0]), " and ", named("code", line.data.from[1]));
    }
    const rows = made("span");
    for (const name of line.data.rows) rows.append(named("span", name, "tag"), " ");
    const more = line.data.of - line.data.rows.length;
    if (more > 0) rows.append("and " + more.toLocaleString("en") + " more");
    if (!line.data.of) rows.append("none");
    add("Rows", rows);
    cell.append(list);
    const node = document.querySelector('#graph .node[data-n="' + line.data.n + '"]');
    if (node) {
      const follow = made("button", "Show its ancestry", "quiet");
      follow.type = "button";
      follow.addEventListener("click", () => {
        node.dispatchEvent(new Event("follow"));
        byId("ancestry").scrollIntoView();
      });
      cell.append(follow);
    }
    row.append(cell);
    return row;
  }

  body.addEventListener("click", (event) => {
    const button = event.target.closest("button.open");
    if (!button) return;
    const line = lines.find((one) => one.row === button.closest("tr"));
    if (line.detail) {
      line.detail.remove();
      line.detail = null;
    } else {
      line.detail = detailOf(line);
      line.row.after(line.detail);
    }
    button.setAttribute("aria-expanded", String(line.detail !== null));
  });
})();
