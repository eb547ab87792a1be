// What of the page cannot be read or does not fit; run inside the page by test_every_view.py. Gives
// functions, called by name.

const paper = document.createElement('canvas').getContext('2d', {willReadFrequently: true});

/** Any colour that CSS knows as [red, green, blue, alpha], 0 to 1; the browser itself converts it. */
function channels(colour) {
  paper.clearRect(0, 0, 1, 1);
  paper.fillStyle = colour;
  paper.fillRect(0, 0, 1, 1);
  return [...paper.getImageData(0, 0, 1, 1).data].map((c) => c / 255);
}

function over([r, g, b, a], below) {
  return [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
}

/** What lies behind an element: its own background and those of all around it, laid over each other. */
function behind(element) {
  const layers = [];
  for (let e = element; e; e = e.parentElement) {
    const layer = channels(getComputedStyle(e).backgroundColor);
    layers.push(layer);
    if (layer[3] === 1) {
      break;
    }
  }
  return layers.reduceRight((below, layer) => over(layer, below), [1, 1, 1]);
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function isSeen(element) {
  const box = element.getBoundingClientRect();
  return element.checkVisibility({checkVisibilityCSS: true}) && box.width > 1 && box.height > 1 && !element.closest('[disabled], .skip');
}

/** Texts whose contrast is below that of WCAG 2, level AA. */
function faint() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() && isSeen(element)) {
      const style = getComputedStyle(element);
      const ground = behind(element);
      const ink = over(channels(element instanceof SVGElement ? style.fill : style.color), ground);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const ratio = contrast(ink, ground);
      if (ratio < (isLarge ? 3 : 4.5)) {
        found.push(`${node.data.trim().slice(0, 40)} (${element.tagName} ${element.className}): ${ratio.toFixed(2)}`);
      }
    }
  }
  return [...new Set(found)];
}

/** The width of the window; `innerWidth` grows with what is too wide, as a telephone then shows all of it smaller. */
function room() {
  return document.documentElement.clientWidth;
}

/** By how many pixels the page is wider than the window, and the elements that reach out. */
function wide() {
  const root = document.documentElement;
  if (root.scrollWidth <= room()) {
    return [];
  }
  const out = [...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > room() + 0.5);
  return [`${root.scrollWidth - room()} px`, ...out.slice(0, 8).map((e) => `${e.tagName}.${e.className} ${e.dataset.test ?? ''}`)];
}

const SLACK = 1; // pixels: edges lie between them

function reachesOut(box, around) {
  return box.left < around.left - SLACK || box.right > around.right + SLACK || box.top < around.top - SLACK || box.bottom > around.bottom + SLACK;
}

/** What of the page a line of text leaves: its cell, its card, the window; null: none. What scrolls or cuts holds its text. */
function leaves(line, element) {
  let box = line;
  for (let e = element; e !== document.documentElement; e = e.parentElement) {
    const style = getComputedStyle(e);
    const around = e.getBoundingClientRect();
    if (style.display !== 'inline' && style.overflowX !== 'visible') {
      box = around;
    } else if (e.matches('.card, td, th, .table-box, dialog, button') && reachesOut(box, around)) {
      return `${e.tagName}.${e.className}`;
    }
  }
  return box.left < -SLACK || box.right > room() + SLACK ? 'the window' : null;
}

/** Texts that run out of what they stand in. */
function spilled() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() && isSeen(element) && !element.closest('.only-readers')) {
      range.selectNodeContents(node);
      const out = [...range.getClientRects()].map((line) => leaves(line, element)).find(Boolean);
      if (out) {
        found.push(`${node.data.trim().slice(0, 40)} (${element.tagName} ${element.className}) leaves ${out}`);
      }
    }
  }
  return [...new Set(found)];
}

/** Fields and buttons without a name for those who do not see them. */
function nameless() {
  const fields = document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a[href]');
  return [...fields].filter((e) => isSeen(e) && !(e.labels?.length || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby')
    || e.title || e.textContent.trim() || e.querySelector('img[alt]:not([alt=""])'))).map((e) => e.outerHTML.slice(0, 120));
}
