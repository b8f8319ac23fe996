(() => {
  const network = byId("tags");
  if (!network) return;
  const said = byId("tag-said");
  const links = all(".link", network);
  const tags = all(".tagged", network);

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
    said.textContent = tag ? tag.dataset.said : "\u00a0";
  }

  function choose(tag) {
    const column = byId("with");
    if (!Array.from(column.options).some((option) => option.value === tag.dataset.t)) return;
    column.value = tag.dataset.t;
    column.dispatchEvent(new Event("change"));
    byId("features").scrollIntoView();
  }

  tags.forEach((tag, k) => {
    tag.addEventListener("pointerenter", () => light(tag));
    tag.addEventListener("pointerleave", () => light(null));
    tag.addEventListener("focus", () => light(tag));
    tag.addEventListener("blur", () => light(null));
    tag.addEventListener("click", () => choose(tag));
    tag.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(tag);
      } else if (steps[event.key]) {
        event.preventDefault();
        for (const one of tags) one.setAttribute("tabindex", "-1");
        const next = tags[(k + steps[event.key] + tags.length) % tags.length];
        next.setAttribute("tabindex", "0");
        next.focus();
      }
    });
  });
})();
