/** What the service refused, told where it was written. */

import {h, replace} from '../dom.js';
import {failure} from './failure.js';

/** The control whose pointer is the nearest to the one of the mistake. */
function controlFor(form, pointer) {
  const all = [...form.querySelectorAll('[data-pointer]')];
  for (let at = pointer ?? ''; at; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = all.find((one) => one.dataset.pointer === at && !one.closest('[hidden]'));
    if (found) {
      return found;
    }
  }
  return null;
}

/** Takes away what markProblem has said. */
export function clearProblem(form) {
  form.querySelectorAll('[data-problem]').forEach((one) => one.remove());
  form.querySelectorAll('[aria-invalid="true"]').forEach((one) => one.setAttribute('aria-invalid', 'false'));
}

/**
 * Marks the control that the pointer names (controls bear `data-pointer`), and says the problem there; else in `place`.
 * @param {HTMLElement} form
 * @param {HTMLElement} place
 * @param {Error} error
 */
export function markProblem(form, place, error) {
  clearProblem(form);
  const control = controlFor(form, error.pointer);
  if (!control) {
    replace(place, failure(error));
    return;
  }
  control.setAttribute('aria-invalid', 'true');
  control.closest('details')?.setAttribute('open', '');
  const text = h('span', {class: 'problem', role: 'alert', 'data-problem': error.pointer, 'data-test': 'problem'}, error.message);
  (control.closest('.field') ?? control).append(text);
  replace(place);
}
