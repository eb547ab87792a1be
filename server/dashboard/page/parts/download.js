import {blob} from '../api.js';
import {h} from '../dom.js';

/**
 * Saves an answer of the API as a file; a plain link could not carry a token.
 * @param {string} path
 * @param {string} name of the file
 * @param {{accept?: string, signal?: AbortSignal}} options
 */
export async function download(path, name, options = {}) {
  const address = URL.createObjectURL(await blob(path, options));
  const link = h('a', {href: address, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000); // the browser may still be reading
}
