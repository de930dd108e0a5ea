// What the page does beside htmx: cards that open on hover and focus, the filter of the sources, the theme, copying, and checks of files.
"use strict";

(() => {
  const all = (selector) => document.querySelectorAll(selector);
  const HOVER_MS = 120;
  const LEAVE_MS = 220;

  // Cards. A click or Enter keeps a card open; hover and focus only show it while one stays.
  let shown = null;
  let by = null;
  let kept = false;
  let timer = 0;

  const cardOf = (mark) => document.getElementById(mark.getAttribute("popovertarget"));

  function show(mark, keep) {
    clearTimeout(timer);
    const card = cardOf(mark);
    if (!card) return;
    if (!card.matches(":popover-open")) card.showPopover({ source: mark });
    shown = card;
    by = mark;
    kept = keep;
  }

  function hideSoon() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const held = kept || by?.matches(":focus-visible") || shown?.contains(document.activeElement);
      if (shown?.matches(":popover-open") && !held) shown.hidePopover();
    }, LEAVE_MS);
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const mark = event.target.closest?.(".mark");
    if (mark) {
      clearTimeout(timer);
      if (!(kept && shown?.matches(":popover-open"))) timer = setTimeout(() => show(mark, false), HOVER_MS);
    } else if (event.target.closest?.(".card")) {
      clearTimeout(timer);
    } else {
      hideSoon();
    }
  });

  document.addEventListener("focusin", (event) => {
    const mark = event.target.closest?.(".mark");
    if (mark) {
      // Not at once: the card that closes may be moving the focus. Nor when the focus comes back from the mark's own card.
      if (!mark.matches(":focus-visible") || cardOf(mark)?.contains(event.relatedTarget)) return;
      setTimeout(() => { if (document.activeElement === mark) show(mark, false); }, 0);
    } else if (!event.target.closest?.(".card")) hideSoon();
  });

  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.(".mark");
    if (!mark) return;
    event.preventDefault();
    show(mark, true);
  });

  // A file that is chosen closes the menu of exports.
  document.addEventListener("click", (event) => event.target.closest?.(".export a")?.closest(".export").hidePopover());

  document.addEventListener("toggle", (event) => {
    if (event.target === shown && event.newState === "closed") kept = false;
  }, true);

  // The filter of the sources.
  function filter() {
    const words = document.querySelector("[data-filter]").value.trim().toLowerCase();
    const state = document.querySelector("[data-filter-state]").value;
    for (const row of all("#list > .source")) {
      const right = ["", row.dataset.state, row.dataset.kind].includes(state) || (state === "read" && row.dataset.state === "cited");
      row.hidden = !(right && (!words || row.textContent.toLowerCase().includes(words)));
    }
  }
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter], [data-filter-state]")) filter();
  });

  // Dark and light.
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-theme-toggle]")) return;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (document.documentElement.dataset.theme || system) === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    document.cookie = `spadework_theme=${next}; path=/; max-age=31536000; samesite=strict`;
  });

  // Copying needs a safe context; elsewhere the button stays hidden.
  function offerCopying() {
    if (navigator.clipboard) all("[data-copy]").forEach((button) => { button.hidden = false; });
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (!button) return;
    const words = button.textContent;
    try {
      const answer = await fetch(button.dataset.copy);
      await navigator.clipboard.writeText(await answer.text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Could not copy";
    }
    setTimeout(() => { button.textContent = words; }, 1600);
  });

  // Asking: Enter asks, Shift+Enter begins a line; files over the limits are named before they are sent.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.target.matches("[data-ask] textarea")) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-most-files]")) return;
    const { mostFiles, mostBytes } = event.target.dataset;
    const files = [...event.target.files];
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const wrong = files.length > mostFiles ? `At most ${mostFiles} files can be attached.`
      : bytes > mostBytes ? "Together, the files are too large." : "";
    event.target.setCustomValidity(wrong);
    const error = event.target.form.querySelector("[data-error]");
    error.textContent = wrong;
    error.hidden = !wrong;
  });

  // The history by its words; a day without sessions goes.
  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-history-filter]")) return;
    const words = event.target.value.trim().toLowerCase();
    let day = null;
    for (const row of all(".sessions > li")) {
      if (row.matches("[data-day]")) {
        day = row;
        day.hidden = Boolean(words);
      } else if (row.matches("[data-session]")) {
        row.hidden = Boolean(words) && !row.textContent.toLowerCase().includes(words);
        if (!row.hidden && day) day.hidden = false;
      }
    }
  });

  // What is left of the time, counted down between two events.
  setInterval(() => {
    const clock = document.querySelector("[data-left]");
    if (!clock) return;
    const left = Math.max(0, Number(clock.dataset.left) - 1);
    clock.dataset.left = left;
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
  }, 1000);

  // The contents follow the reader.
  let following = null;
  function follow() {
    following?.disconnect();
    const links = [...all("[data-contents] a")];
    if (!links.length) return;
    const seen = new Set();
    following = new IntersectionObserver((entries) => {
      for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
      const first = links.find((link) => seen.has(link.hash.slice(1)));
      if (first) links.forEach((link) => { link === first ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"); });
    }, { rootMargin: "-10% 0px -55% 0px" });
    links.forEach((link) => { const chapter = document.getElementById(link.hash.slice(1)); if (chapter) following.observe(chapter); });
  }

  // A server that is lost is said, and when it is found again, too.
  const lost = (is) => { const said = document.getElementById("lost-server"); if (said) said.hidden = !is; };
  document.addEventListener("htmx:sse:error", () => lost(true));
  document.addEventListener("htmx:sse:after:connection", () => lost(false));
  document.addEventListener("htmx:sse:after:message", () => lost(false));

  function focusAsked() {
    const field = document.querySelector("[data-focus]");
    const typing = document.activeElement?.matches?.("input, textarea") && document.activeElement !== field;
    field?.removeAttribute("data-focus");
    if (!typing) field?.focus({ preventScroll: !field.matches("input") });
  }

  document.addEventListener("htmx:after:swap", () => {
    offerCopying();
    if (document.querySelector("[data-filter]")) filter();
    follow();
    focusAsked();
  });
  document.addEventListener("htmx:after:request", (event) => {
    if (event.detail?.ctx?.sourceElement?.id === "findings") event.detail.ctx.sourceElement.removeAttribute("aria-busy");
  });
  offerCopying();
  follow();
  focusAsked();
})();
