(() => {
  const graph = byId("graph");
  if (!graph) return;
  const nodes = new Map(all(".node", graph).map((node) => [node.dataset.n, node]));
  const names = all(".node-name", graph);
  const edges = all(".edge", graph).map((drawn) => ({
    drawn,
    parent: drawn.dataset.p,
    child: drawn.dataset.c,
  }));
  let followed = null;

  // all features that are reachable from a feature in one direction
  function reached(start, from, to) {
    const found = new Set([start]);
    const pending = [start];
    while (pending.length) {
      const now = pending.pop();
      for (const edge of edges) {
        if (edge[from] === now && !found.has(edge[to])) {
          found.add(edge[to]);
          pending.push(edge[to]);
        }
      }
    }
    return found;
  }

  function follow(number) {
    followed = followed === number ? null : number;
    graph.classList.toggle("following", followed !== null);
    const before = followed === null ? new Set() : reached(followed, "child", "parent");
    const after = followed === null ? new Set() : reached(followed, "parent", "child");
    for (const [n, node] of nodes) {
      node.classList.toggle("lit", before.has(n) || after.has(n));
      node.classList.toggle("selected", n === followed);
      node.setAttribute("aria-pressed", String(n === followed));
    }
    for (const name of names) {
      const n = name.dataset.n;
      name.classList.toggle("lit", before.has(n) || after.has(n));
      name.classList.toggle("selected", n === followed);
    }
    for (const edge of edges) {
      const leads = before.has(edge.parent) && before.has(edge.child);
      const comes = after.has(edge.parent) && after.has(edge.child);
      edge.drawn.classList.toggle("lit", leads || comes);
    }
    const words = byId("follow");
    if (followed === null) {
      words.textContent = "\u00a0";
      return;
    }
    const { formula, remark } = nodes.get(followed).dataset;
    const made = before.size - 1;
    words.textContent =
      formula + " · " + remark + (made ? " · made from " + made + " others" : "") +
      (after.size > 1 ? " · used in " + (after.size - 1) : "");
  }

  walk(Array.from(nodes.values()), (node) => follow(node.dataset.n));
  for (const [n, node] of nodes) {
    node.addEventListener("follow", () => {
      if (followed !== n) follow(n);
      node.scrollIntoView({ block: "nearest", inline: "center" });
    });
  }
})();
