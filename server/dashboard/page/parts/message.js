import {h} from '../dom.js';

const STAYS = {good: 4000, bad: 12000};

/** Where messages stand; made when there is a first one. */
function place() {
  let box = document.getElementById('messages');
  if (!box) {
    box = h('div', {id: 'messages', role: 'status', 'aria-live': 'polite'});
    document.body.append(box);
  }
  return box;
}

/**
 * Says something in passing, in the corner of the page.
 * @param {string} text
 * @param {'good'|'bad'} kind
 */
export function message(text, kind = 'good') {
  const note = h('div', {class: `message ${kind}`, 'data-test': `message-${kind}`}, h('span', {class: 'grow break'}, text));
  const close = () => note.remove();
  note.append(h('button', {class: 'quiet small', type: 'button', 'aria-label': 'Close', on: {click: close}}, '✕'));
  place().append(note);
  setTimeout(close, STAYS[kind]);
}

/**
 * Runs what a button does: it is disabled meanwhile, and what goes wrong is said.
 * @param {HTMLButtonElement} button
 * @param {function(): Promise<?string>} action its text, if any, is said at the end
 */
export async function act(button, action) {
  button.disabled = true;
  try {
    const text = await action();
    if (text) {
      message(text);
    }
  } catch (error) {
    if (error.name !== 'AbortError') {
      message(error.pointer ? `${error.message} (${error.pointer})` : error.message, 'bad');
    }
  } finally {
    button.disabled = false;
  }
}
