// How much text a page shows, told when that has not changed for `quiet` ms, but after `most` ms at the latest.
async ({ quiet, most, least }) => {
  const chars = (root) => {
    let sum = (root.body || root).textContent.length;
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) sum += chars(element.shadowRoot);
    return sum;
  };
  const began = performance.now();
  let now = chars(document), since = began;
  for (;;) {
    await new Promise((done) => setTimeout(done, 50));
    const grown = chars(document), time = performance.now();
    if (grown !== now) [now, since] = [grown, time];
    const shown = document.body ? document.body.innerText.trim().length : 0;
    if ((time - since >= quiet && shown >= least) || time - began >= most) return shown;
  }
}
