// The page: the frame of the slider says which pictures are shown, and a cursor which epoch the charts read.
const LAST = DATA.frames.length - 1;
const PACE = clamp(7000 / max(1, LAST), 140, 700);
const curves = new Curves(moveCursor), gradients = new Gradients(moveCursor);
let frame = LAST, cursor = EPOCHS.length - 1, timer = null, pictures = [];

const ofFrame = () => {
  if (LAST < 0) return EPOCHS.length - 1;
  return DATA.frames[frame] < 1 || !EPOCHS.length ? -1 : nearestEpoch(DATA.frames[frame]);
};
function showCursor(at) {
  curves.show(at);
  gradients.show(at);
}
// A pointer over a chart reads there, and reads the frame's epoch again when it is gone; a key or a press stays.
function moveCursor(at, isFinal) {
  if (isFinal) {
    cursor = at;
    if (LAST >= 0) {
      pause();
      frame = nearestFrame(EPOCHS[at]);
      showFrame();
    }
  }
  showCursor(at ?? cursor);
}
const nearestFrame = epoch => DATA.frames.reduce((best, e, k) => (abs(e - epoch) < abs(DATA.frames[best] - epoch) ? k : best), 0);

function showFrame() {
  for (const picture of pictures) picture.show(frame);
  const slider = find("frame"), when = epochName(DATA.frames[frame]);
  slider.value = frame;
  slider.setAttribute("aria-valuetext", when);
  find("where").textContent = when;
  find("back").setAttribute("aria-disabled", frame === 0);
  find("next").setAttribute("aria-disabled", frame === LAST);
}
function go(to) {
  frame = clamp(to, 0, LAST);
  cursor = ofFrame();
  showFrame();
  showCursor(cursor);
}
function move(to) {
  pause();
  go(to);
}
function pause() {
  clearInterval(timer);
  timer = null;
  find("play").classList.remove("playing");
  find("play").setAttribute("aria-label", "Play");
}
function play() {
  if (frame === LAST) go(0);
  find("play").classList.add("playing");
  find("play").setAttribute("aria-label", "Pause");
  timer = setInterval(() => {
    go(frame + 1);
    if (frame === LAST) pause();
  }, PACE);
}
const toggle = () => (timer === null ? play() : pause());

// Arrows belong to a focused chart or picture, and to a box that can be scrolled.
function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || LAST < 1) return;
  const {target} = event, isButton = target.closest("button, summary"), isBox = target.closest(".scroll, #layers");
  const action = {
    ArrowRight: () => move(frame + 1), ArrowLeft: () => move(frame - 1), Home: () => move(0), End: () => move(LAST), " ": toggle,
  }[event.key];
  if (!action || (event.key === " " && isButton) || (event.key !== " " && isBox)) return;
  event.preventDefault();
  action();
}

function buildTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)"), chosen = document.documentElement.dataset;
  const dark = () => (chosen.theme ? chosen.theme === "dark" : system.matches);
  const label = () => {
    find("theme").textContent = dark() ? "Light" : "Dark";
    find("theme").setAttribute("aria-label", `Use the ${dark() ? "light" : "dark"} colours`);
    for (const picture of pictures) picture.recolour();
    if (LAST >= 0) showFrame();
  };
  find("theme").addEventListener("click", () => {
    chosen.theme = dark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  // Paper is white, whatever the screen is.
  let before;
  addEventListener("beforeprint", () => { pause(); before = chosen.theme; chosen.theme = "light"; label(); });
  addEventListener("afterprint", () => {
    if (before) chosen.theme = before; else delete chosen.theme;
    label();
  });
  label();
}

async function start() {
  buildFacts();
  buildTable();
  showCursor(cursor);
  const bytes = await inflated();
  if (LAST >= 0) {
    const weights = new Weights(bytes, 0);
    pictures = [weights, ...(DATA.boundary ? [new Plane(bytes, weights.at)] : [])];
    find("controls").hidden = LAST === 0 || !(DATA.weights.length || DATA.boundary);
    find("keys").hidden = find("controls").hidden;
    find("frame").max = LAST;
    find("frame").addEventListener("input", () => move(Number(find("frame").value)));
    find("back").addEventListener("click", () => move(frame - 1));
    find("next").addEventListener("click", () => move(frame + 1));
    find("play").addEventListener("click", toggle);
    document.addEventListener("keydown", onKey);
  }
  buildTheme();
  document.body.dataset.ready = "";
}
start();
