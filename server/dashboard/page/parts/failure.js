import {h} from '../dom.js';

/**
 * What the API said instead of an answer, as an element.
 * @param {Error} error an ApiError or any other
 */
export function failure(error) {
  const where = error.pointer ? h('code', {}, error.pointer) : null;
  return h('p', {class: 'failure', role: 'alert', 'data-test': 'failure'}, error.message, where ? ' at ' : null, where);
}
