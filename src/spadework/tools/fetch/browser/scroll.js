// Goes down the page, screen by screen, as long as it grows; tells whether it has grown.
async ({ screens, most, patience }) => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const began = performance.now();
  const page = document.scrollingElement || document.documentElement;
  const inner = [...document.querySelectorAll("main, [role=main], [role=feed], body > div, body > div > div")].filter(
    (box) => box.scrollHeight > box.clientHeight * 1.5 && /auto|scroll/.test(getComputedStyle(box).overflowY)
  );
  const box = page.scrollHeight <= innerHeight * 1.2 && inner.length ? inner[0] : page;
  const step = Math.max(box.clientHeight, 200);
  const first = box.scrollHeight;
  let gone = 0;
  while (gone < screens && performance.now() - began < most) {
    const before = box.scrollHeight;
    if (box.scrollTop + box.clientHeight < before - 2) {
      box.scrollTop += step;
      gone++;
      await pause(20);
      continue;
    }
    if (!gone) break; // all of it was seen from the beginning
    const waited = performance.now();
    while (box.scrollHeight <= before && performance.now() - waited < patience) await pause(50);
    if (box.scrollHeight <= before) break;
  }
  return box.scrollHeight > first;
}
