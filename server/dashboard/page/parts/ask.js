import {h} from '../dom.js';

/**
 * A question in a box of its own, before something is lost.
 * @param {{title: string, text: string, verb: string, danger?: boolean, field?: HTMLElement}} question
 *   field: what else is asked, e.g. an input
 * @returns {Promise<boolean>} whether the verb was chosen
 */
export function ask({title, text, verb, danger = false, field = null}) {
  return new Promise((resolve) => {
    const dialog = h('dialog', {'aria-labelledby': 'ask-title', 'data-test': 'ask'});
    const answer = (value) => () => {
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    const form = h('form', {method: 'dialog'},
      h('h2', {id: 'ask-title'}, title), h('p', {}, text), field,
      h('div', {class: 'row end'},
        h('button', {type: 'button', on: {click: answer(false)}, 'data-test': 'ask-no'}, 'Back'),
        h('button', {type: 'submit', class: danger ? 'danger' : 'primary', 'data-test': 'ask-yes'}, verb)));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      answer(true)();
    });
    dialog.addEventListener('cancel', answer(false));
    dialog.append(form);
    document.body.append(dialog);
    dialog.showModal();
  });
}
