/**
 * HTML that the application vouches for. Made by `html()`, and by nothing that a visitor sends: loaders, actions and
 * `cached()` may return it, and `Html` shows it. It cannot be changed.
 */
export class HtmlValue {
  /**
   * The HTML. In a browser, of a value that the document shows: as the browser has parsed it, so that `<br/>` is `<br>`. Do
   * not render what you compute from it; compute that on the server.
   */
  readonly text: string
  /**
   * Equal for equal text on the server, whatever a browser makes of that.
   * @internal
   */
  readonly hash: string
  /**
   * Names the element of the document that shows it; browsers only.
   * @internal
   */
  readonly mark: string | undefined
  /** No other object is one, whatever its members. */
  declare private readonly brand: never

  /** @internal */
  constructor(text: string, hash: string, mark?: string) {
    this.text = text
    this.hash = hash
    this.mark = mark
    Object.freeze(this)
  }

  /** As JSON it is its text; of that, nothing makes such a value again. */
  toJSON(): string {
    return this.text
  }
}
