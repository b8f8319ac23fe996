(() => {
  const network = byId("tags");
  if (!network) return;
  const links = all(".link", network);
  const tags = all(".tagged", network);
  const slider = byId("links");
  let chosen = null;

  function light(tag) {
    network.classList.toggle("following", Boolean(tag));
    const near = new Set(tag ? [tag.dataset.t] : []);
    for (const link of links) {
      const isLit = tag && (link.dataset.a === tag.dataset.t || link.dataset.b === tag.dataset.t);
      link.classList.toggle("lit", Boolean(isLit));
      if (isLit) near.add(link.dataset.a).add(link.dataset.b);
    }
    for (const one of all(".tagged, .tag-name", network)) {
      one.classList.toggle("lit", near.has(one.dataset.t));
    }
    byId("tag-said").textContent = tag ? tag.getAttribute("aria-label") : "\u00a0";
  }

  function choose(tag) {
    chosen = chosen === tag ? null : tag;
    for (const one of tags) one.setAttribute("aria-pressed", String(one === chosen));
    light(chosen);
  }

  function thin() {
    const most = Number(slider.value);
    let shown = 0;
    for (const link of links) {
      const isShown = Number(link.dataset.rank) <= most;
      link.classList.toggle("weak", !isShown);
      shown += isShown;
    }
    byId("links-shown").textContent =
      written(shown) + (shown === links.length ? "" : " of " + written(links.length)) + " links";
  }

  for (const tag of tags) {
    tag.addEventListener("pointerenter", () => light(tag));
    tag.addEventListener("pointerleave", () => light(chosen));
    tag.addEventListener("focus", () => light(tag));
    tag.addEventListener("blur", () => light(chosen));
  }
  walk(tags, choose);
  if (slider) {
    slider.addEventListener("input", thin);
    thin();
  }
})();
