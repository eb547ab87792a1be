import {h} from '../dom.js';

/**
 * Hands bytes to the person as a file. A link to the API would do without a token.
 * @param {Blob} content
 * @param {string} name of the file
 */
export function saveBlob(content, name) {
  const address = URL.createObjectURL(content);
  h('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
