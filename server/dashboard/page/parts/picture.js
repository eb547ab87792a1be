import {blob} from '../api.js';
import {h, set} from '../dom.js';
import {dataOf} from './data_kind.js';

/** Small pictures are shown with their pixels, not smeared. */
const SHARP_BELOW = 64;

function load(image, path, signal) {
  blob(path, {accept: 'image/png', signal}).then((content) => {
    const address = URL.createObjectURL(content);
    signal.addEventListener('abort', () => URL.revokeObjectURL(address), {once: true});
    set(image, {src: address});
  }).catch((error) => {
    if (!signal.aborted) {
      set(image, {alt: `${image.alt} (${error.message})`, class: 'picture broken'});
    }
  });
}

/** Loads when the picture comes into sight: a cell may have thousands. */
const watcher = new IntersectionObserver((entries) => {
  for (const {target, isIntersecting} of entries) {
    if (isIntersecting) {
      watcher.unobserve(target);
      waiting.get(target)?.();
    }
  }
}, {rootMargin: '200px'});
const waiting = new WeakMap();

/**
 * A picture of the API, which a token may be needed for.
 * @param {string} path e.g. "/v1/datasets/ID/items/7/image"
 * @param {{alt: string, signal: AbortSignal, kind?: string}} options kind of the data: a plot of a window keeps its shape
 * @returns {HTMLImageElement}
 */
export function picture(path, {alt, signal, kind}) {
  const shape = dataOf(kind) === 'signals' ? 'picture stretched' : 'picture';
  const image = h('img', {class: shape, alt, on: {
    load: () => image.classList.toggle('sharp', image.naturalWidth < SHARP_BELOW),
  }});
  waiting.set(image, () => load(image, path, signal));
  watcher.observe(image);
  return image;
}
