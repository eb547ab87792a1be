/** The same by hand: requests of the page as commands. */

import {address} from './api.js';
import {token} from './connection.js';
import {h} from './dom.js';
import {message} from './parts/message.js';

/** A word that a shell takes as it is. */
function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * @param {string} method
 * @param {string} path of the API, with its query
 * @param {?Object} body
 * @returns {string} a command; a token is named, never written out
 */
export function curl(method, path, body = null) {
  const words = ['curl -sS'];
  if (method !== 'GET') {
    words.push(`-X ${method}`);
  }
  if (token()) {
    words.push('-H "Authorization: Bearer $ASSAY_TOKEN"');
  }
  words.push(quoted(address(path).href));
  if (body !== null) {
    words.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  }
  return words.join(' ');
}

/** Over plain HTTP from another machine a browser gives no clipboard: then the text is selected. */
async function copy(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = h('textarea', {}, text);
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (!done) {
    throw new Error(text);
  }
}

/**
 * A button that copies a request as a command.
 * @param {function(): {method: string, path: string, body?: Object}} request asked when it is pressed
 * @returns {HTMLButtonElement}
 */
export function curlButton(request) {
  const button = h('button', {type: 'button', title: 'Copy this request as a curl command', 'data-test': 'curl'}, 'Copy as curl');
  button.addEventListener('click', async () => {
    const {method, path, body} = request();
    const command = curl(method, path, body ?? null);
    button.dataset.command = command;
    try {
      await copy(command);
      message('The command is in the clipboard.');
    } catch {
      message(command);
    }
  });
  return button;
}
