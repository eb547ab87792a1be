import {h} from '../dom.js';
import {ago, time} from '../format.js';

const TICK_MS = 20000;

/** Rows stay as they are while nothing about them changes; how long ago they were does change. */
function tick() {
  for (const element of document.querySelectorAll('time.ago')) {
    const text = ago(element.dateTime);
    if (element.textContent !== text) {
      element.textContent = text;
    }
  }
}

setInterval(tick, TICK_MS);

/**
 * How long ago something was, kept true while it is shown.
 * @param {?string} rfc3339
 * @param {string} title by default the instant
 * @returns {HTMLElement}
 */
export function when(rfc3339, title = time(rfc3339)) {
  return h('time', {class: 'ago nowrap', datetime: rfc3339 ?? '', title}, ago(rfc3339));
}
