for (const section of all("[data-table]")) {
  const table = section.querySelector("table");
  const body = table.tBodies[0];
  const lines = all("tr", body).map((row, k) => {
    const name = row.querySelector(".open").textContent;
    return { row, k, data: report.tables[section.dataset.table][k], name, text: name.toLowerCase(), detail: null };
  });
  const search = section.querySelector("input[type=search]");
  const column = section.querySelector(".with");
  const kind = section.querySelector(".kind");

  // rows beyond the first screen are laid out in later frames
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
      const matches =
        words.every((word) => line.text.includes(word)) &&
        (wanted < 0 || line.data.with.includes(wanted)) &&
        (kind.value === "" || (kind.value === "tag") === line.data.tag);
      if (matches) {
        matching.push(line);
      } else {
        line.row.hidden = true;
        if (line.detail) line.detail.hidden = true;
      }
    }
    const shown = matching.length;
    reveal(matching);
    const noun = lines.length === 1 ? section.dataset.noun : section.dataset.nouns;
    section.querySelector(".shown").textContent =
      (shown === lines.length ? "" : written(shown) + " of ") + written(lines.length) + " " + noun;
    section.querySelector(".empty").hidden = shown > 0;
  }
  // show the rows that are hidden until the page has loaded
  addEventListener("load", filter);
  search.addEventListener("input", filter);
  column.addEventListener("change", filter);
  kind.addEventListener("change", filter);

  function compare(key, sign) {
    if (key === "name") return (a, b) => sign * a.name.localeCompare(b.name) || a.k - b.k;
    const value = (line) => line.data.sort[Number(key)];
    return (a, b) => {
      const left = value(a);
      const right = value(b);
      // rows without a value come last in both orders
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
        for (const row of [line.row, line.detail].filter(Boolean)) {
          row.hidden = true;
          sorted.append(row);
        }
      }
      body.append(sorted);
      filter();
    });
  }

  function detailOf(line) {
    const { facts, rows, of, n } = line.data;
    const row = made("tr", undefined, "detail");
    const cell = made("td");
    cell.colSpan = line.row.cells.length;
    const list = made("dl");
    const add = (term, part) => {
      const said = made("dd");
      said.append(part);
      list.append(made("dt", term), said);
    };
    for (const [term, text] of facts) add(term, named("span", text));
    if (rows) {
      const some = made("span");
      for (const name of rows) some.append(named("span", name, "tag"), " ");
      if (of > rows.length) some.append("and " + written(of - rows.length) + " more");
      if (!of) some.append("none");
      add("Rows", some);
    }
    cell.append(list);
    const node = n !== undefined && document.querySelector('#graph .node[data-n="' + n + '"]');
    if (node) {
      const follow = made("button", "Show how it was built", "quiet");
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
}
