/** What the service refused, told where it was written. */

import {h, replace} from '../dom.js';
import {ended} from '../format.js';
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

/** What is wrong in a sentence, with the proposal of the service where it is the only thing that is. */
function sentenceOf({message, body}) {
  const [issue, ...others] = body?.issues ?? [];
  return issue?.mend && others.length === 0 ? `${ended(message)} Mend: ${issue.mend}` : message;
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
  const text = h('span', {class: 'problem', role: 'alert', 'data-problem': error.pointer, 'data-test': 'problem'}, sentenceOf(error));
  (control.closest('.field') ?? control).append(text);
  replace(place);
}
