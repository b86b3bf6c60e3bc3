/** HTML that is too large or too deep to be a page. */
export class HtmlSizeError extends RangeError {
  override readonly name = 'HtmlSizeError'
}
