import {h} from '../dom.js';

/**
 * Asks before something is done that cannot be undone.
 * @param {{title: string, text: string, verb: string}} what
 * @returns {Promise<boolean>}
 */
export function confirm({title, text, verb}) {
  return new Promise((resolve) => {
    const close = (answer) => () => dialog.close(answer);
    const dialog = h('dialog', {'aria-labelledby': 'confirm-title', 'data-test': 'confirm', on: {
      close: () => {
        dialog.remove();
        resolve(dialog.returnValue === 'yes');
      },
    }}, h('div', {class: 'stack'}, h('h2', {id: 'confirm-title'}, title), h('p', {}, text),
      h('div', {class: 'row end'},
        h('button', {type: 'button', 'data-test': 'confirm-no', on: {click: close('no')}}, 'Keep'),
        h('button', {type: 'button', class: 'danger', 'data-test': 'confirm-yes', on: {click: close('yes')}}, verb))));
    document.body.append(dialog);
    dialog.showModal();
  });
}
