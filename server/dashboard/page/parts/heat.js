import {blob} from '../api.js';
import {SHARES, ramp} from '../charts/ramp.js';
import {h} from '../dom.js';

/** From nothing to the strongest: clear, amber, red. Over any photograph the strong places stay the strongest. */
const STOPS = [[255, 214, 90], [255, 128, 40], [214, 20, 60]];

function colour(value) {
  const at = value * (STOPS.length - 1);
  const low = Math.min(STOPS.length - 2, Math.floor(at));
  return STOPS[low].map((from, i) => from + (STOPS[low + 1][i] - from) * (at - low));
}

/** How much of the picture a value hides. */
const coverOf = (value) => Math.min(1, value ** 0.75 * 1.15);

/**
 * The service draws a map so that its brightness is the value; here that becomes colour and cover.
 * @returns {boolean} whether the map has anything above 0
 */
function recolour({data}) {
  let most = 0;
  for (let i = 0; i < data.length; i += 4) {
    const value = (0.3 * data[i] + 0.59 * data[i + 1] + 0.11 * data[i + 2]) / 255;
    most = Math.max(most, value);
    const [red, green, blue] = colour(Math.min(1, value));
    data[i] = red;
    data[i + 1] = green;
    data[i + 2] = blue;
    data[i + 3] = 255 * coverOf(value);
  }
  return most > 0;
}

async function draw(canvas, path, signal) {
  const bitmap = await createImageBitmap(await blob(`${path}?overlay=false`, {accept: 'image/png', signal}));
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  const pen = canvas.getContext('2d');
  pen.drawImage(bitmap, 0, 0);
  const pixels = pen.getImageData(0, 0, canvas.width, canvas.height);
  const any = recolour(pixels);
  pen.putImageData(pixels, 0, 0);
  canvas.dataset.drawn = 'true';
  return any;
}

/** What the colours of maps stand for: each map has its own strongest place. */
export function heatLegend() {
  const colours = SHARES.map((value) => `rgb(${colour(value).map(Math.round).join(' ')} / ${coverOf(value).toFixed(2)})`);
  return ramp('Share of the strongest place of each map', '0 %', '100 %', colours);
}

/**
 * A map over its picture.
 * @param {HTMLElement} under the picture
 * @param {string} path of the map, e.g. "/v1/explanations/ID/0"
 * @param {{signal: AbortSignal, label: string, onEmpty: function(), onError: function(Error)}} options
 *   onEmpty: nothing of the picture speaks for the class
 * @returns {{element: HTMLElement, cover: function(number)}} cover: how much of the map is seen, from 0 to 1
 */
export function heat(under, path, {signal, label, onEmpty, onError}) {
  const canvas = h('canvas', {class: 'heat', role: 'img', 'aria-label': label, 'data-test': 'heat'});
  draw(canvas, path, signal).then((any) => any || onEmpty()).catch((error) => signal.aborted || onError(error));
  return {
    element: h('div', {class: 'heat-box'}, under, canvas),
    cover: (share) => {
      canvas.style.setProperty('opacity', String(share));
      under.style.setProperty('filter', `grayscale(${0.9 * share})`); // colours of the picture would hide those of the map
    },
  };
}

let lastCover = 0.65; // stays from picture to picture

/**
 * A slider for the cover of maps.
 * @param {function(number)} onCover called at once, and when it is moved
 */
export function coverSlider(onCover) {
  const slider = h('input', {type: 'range', min: 0, max: 1, step: 0.01, value: lastCover, 'data-test': 'opacity', on: {
    input: () => { lastCover = Number(slider.value); onCover(lastCover); },
  }});
  onCover(lastCover);
  return h('label', {class: 'plain slider'}, 'Map', slider);
}
