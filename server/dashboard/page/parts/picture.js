/** Pictures of the API: fetched as bytes, because a token may be needed, and only when they come into sight. */

import {blob} from '../api.js';
import {h} from '../dom.js';

async function load(image, path, signal) {
  try {
    const address = URL.createObjectURL(await blob(path, {accept: 'image/png', signal}));
    image.addEventListener('load', () => URL.revokeObjectURL(address), {once: true});
    image.src = address;
  } catch (error) {
    if (!signal.aborted) {
      image.classList.add('is-missing');
      image.alt = `${image.alt} (${error.message})`;
    }
  }
}

/**
 * @param {string} path e.g. "/v1/datasets/ID/items/3/image"
 * @param {string} alt
 * @param {{signal: AbortSignal}} options
 * @returns {HTMLImageElement}
 */
export function picture(path, alt, {signal, ...attributes}) {
  const image = h('img', {alt, ...attributes});
  const watch = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      watch.disconnect();
      load(image, path, signal);
    }
  }, {rootMargin: '200px'});
  watch.observe(image);
  signal.addEventListener('abort', () => watch.disconnect(), {once: true});
  return image;
}
