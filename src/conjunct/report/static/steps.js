(() => {
  const run = report.steps;
  if (!run) return;
  const slider = byId("step");
  const map = byId("map");
  const tip = byId("map-tip");
  const SHOWN = 60;
  const names = new Map(run.names.map(([number, text], rank) => [number, { text, rank }]));

  // combinations that were not in the training data have no number yet, but other rows may have them
  let unseen = 0;
  for (const merge of run.steps.flat()) {
    for (let k = 2; k < 5; k++) if (merge[k] < 0) merge[k] = --unseen;
  }

  function textOf(number) {
    return patterns.get(number).map((tag) => names.get(tag).text).join(" + ");
  }

  // the tags of each feature: those of both joined features, or of the remaining one
  const patterns = new Map(run.names.map(([number]) => [number, [number]]));
  const rowsWith = new Map();
  for (const [left, right, both, leftOnly, rightOnly, rows] of run.steps.flat()) {
    const joined = patterns.get(left).concat(patterns.get(right));
    patterns.set(both, joined.sort((a, b) => names.get(a).rank - names.get(b).rank));
    patterns.set(leftOnly, patterns.get(left));
    patterns.set(rightOnly, patterns.get(right));
    rowsWith.set(textOf(both), rows);
  }

  function vocabulary(n) {
    const found = new Set(names.keys());
    for (const merges of run.steps.slice(0, n)) {
      for (const [left, right, both, leftOnly, rightOnly] of merges) {
        found.delete(left);
        found.delete(right);
        for (const number of [both, leftOnly, rightOnly]) if (number >= 0) found.add(number);
      }
    }
    return Array.from(found);
  }

  // the chunks of all rows after n steps: a merge changes only rows that have its parts
  function regroup(n) {
    const having = new Map();
    const add = (number, some) => some.length && having.set(number, some);
    for (const row of rows) {
      row.chunks = [];
      for (const column of row.columns) {
        if (having.has(column)) having.get(column).push(row);
        else having.set(column, [row]);
      }
    }
    for (const merges of run.steps.slice(0, n)) {
      for (const [left, right, both, leftOnly, rightOnly] of merges) {
        const [lefts, rights] = [having.get(left) || [], having.get(right) || []];
        having.delete(left);
        having.delete(right);
        const [inLeft, inRight] = [new Set(lefts), new Set(rights)];
        add(both, lefts.filter((row) => inRight.has(row)));
        add(leftOnly, lefts.filter((row) => !inRight.has(row)));
        add(rightOnly, rights.filter((row) => !inLeft.has(row)));
      }
    }
    for (const [number, some] of having) for (const row of some) row.chunks.push(number);
    const size = (number) => patterns.get(number).length;
    for (const row of rows) {
      row.chunks.sort(
        (a, b) => size(b) - size(a) || names.get(patterns.get(a)[0]).rank - names.get(patterns.get(b)[0]).rank,
      );
    }
  }

  // a row has the colour of the largest coloured pattern that one of its chunks contains
  function colourOf(chunks) {
    let best = -1;
    for (const number of chunks) {
      const tags = new Set(patterns.get(number));
      run.coloured.forEach((pattern, k) => {
        const larger = best < 0 || pattern.length > run.coloured[best].length;
        if (larger && pattern.every((tag) => tags.has(tag))) best = k;
      });
    }
    return best;
  }

  const last = run.steps.length;
  const rows = run.rows.map(([name, columns, group]) => ({ name, columns, group, chunks: [] }));
  regroup(last);
  const place = (row) => {
    const colour = colourOf(row.chunks);
    return colour < 0 ? run.coloured.length : colour;
  };
  // rows are sorted by colour, and then by their chunks
  const keyed = rows.map((row) => [place(row), row.chunks.map(textOf).join(" · "), row]);
  keyed.sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0));
  const across = Math.max(12, Math.ceil(Math.sqrt(1.9 * rows.length)));
  map.setAttribute("viewBox", "0 0 " + across * 10 + " " + Math.ceil(rows.length / across) * 10);
  const cells = keyed.map(([, , row], k) => {
    const cell = document.createElementNS(map.namespaceURI, "rect");
    const corner = { x: (k % across) * 10, y: Math.floor(k / across) * 10, width: 9, height: 9 };
    for (const [name, value] of Object.entries(corner)) cell.setAttribute(name, value);
    map.append(cell);
    return { row, cell };
  });
  const at = new Map(cells.map((one, k) => [one.cell, k]));
  let pointed = -1;

  function point(k) {
    if (pointed >= 0) cells[pointed].cell.classList.remove("pointed");
    pointed = k;
    tip.replaceChildren();
    if (k < 0) {
      tip.append(made("span", "Point at a row to see its chunks.", "soft"));
      return;
    }
    const { row, cell } = cells[k];
    cell.classList.add("pointed");
    tip.append(named("span", row.name, "rowname"));
    for (const number of row.chunks) {
      const several = patterns.get(number).length > 1;
      tip.append(named("span", textOf(number), several ? "tag it" : "tag"));
    }
    if (!row.chunks.length) tip.append(made("span", "no tag", "soft"));
  }

  const byGroup = byId("by-group");
  const chunkTexts = run.coloured.map((pattern) => pattern.map((tag) => names.get(tag).text).join(" + "));

  function legend() {
    const isByGroup = byGroup && byGroup.checked;
    const texts = isByGroup ? run.groups : chunkTexts;
    const counts = texts.map(() => 0);
    let several = 0;
    let none = 0;
    for (const { row, cell } of cells) {
      const colour = !isByGroup ? colourOf(row.chunks) : row.group < texts.length ? row.group : -1;
      const isJoined = isByGroup || row.chunks.some((number) => patterns.get(number).length > 1);
      cell.setAttribute("class", colour >= 0 ? "c" + colour : isJoined ? "several" : "");
      if (colour >= 0) counts[colour] += 1;
      else if (isJoined) several += 1;
      else none += 1;
    }
    if (pointed >= 0) cells[pointed].cell.classList.add("pointed");
    const list = document.createDocumentFragment();
    const add = (text, colour, count) => {
      const item = made("li");
      item.append(made("span", undefined, "swatch " + colour), named("span", text), " ");
      item.append(made("span", written(count), "soft number"));
      list.append(item);
    };
    texts.forEach((text, k) => counts[k] && add(text, "c" + k, counts[k]));
    if (several) add(isByGroup ? "other groups" : "other chunks of several tags", "several", several);
    if (none) add("single tags only", "", none);
    byId("map-legend").replaceChildren(list);
  }

  function show(n) {
    const joined = vocabulary(n).filter((number) => patterns.get(number).length > 1);
    // each chunk once, with the number of rows that have all its tags
    const chunks = Array.from(new Set(joined.map(textOf)), (text) => [text, rowsWith.get(text)]);
    chunks.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const list = document.createDocumentFragment();
    for (const [text, count] of chunks.slice(0, SHOWN)) {
      const item = made("li");
      item.append(named("span", text), " ", made("span", written(count), "soft number"));
      list.append(item);
    }
    if (chunks.length > SHOWN) list.append(made("li", "and " + written(chunks.length - SHOWN) + " more", "soft"));
    byId("chunks-now").replaceChildren(list);
    byId("step-said").textContent =
      "Step " + n + " of " + last + ": " + written(chunks.length) + (chunks.length === 1 ? " chunk" : " chunks");
    const latest = n ? run.steps[n - 1] : [];
    byId("step-joined").textContent = latest.length
      ? "Last joined: " + latest.slice(0, 3).map(([left, right]) => textOf(left) + " with " + textOf(right)).join("; ") +
        (latest.length > 3 ? " and " + (latest.length - 3) + " more" : "")
      : "Single tags only";
    regroup(n);
    legend();
    point(pointed);
    slider.setAttribute("aria-valuetext", byId("step-said").textContent);
  }

  let asked = 0;
  slider.addEventListener("input", () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => show(Number(slider.value)));
  });
  if (byGroup) byGroup.addEventListener("change", legend);
  map.addEventListener("pointerover", (event) => {
    const k = at.get(event.target);
    if (k !== undefined) point(k);
  });
  map.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
    if (!steps[event.key]) return;
    event.preventDefault();
    point(Math.min(cells.length - 1, Math.max(0, pointed + steps[event.key])));
  });
  show(Number(slider.value));
})();
