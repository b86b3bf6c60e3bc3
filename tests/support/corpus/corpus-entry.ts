/** A package that products use, imported as its README says. */
export interface CorpusEntry {
  /** Also the URL of its page: `/<name>`. */
  readonly name: string
  /** `name@version` of everything that `npm install` gets for it. */
  readonly install: readonly string[]
  /** What a loader imports and returns, as text. */
  readonly server?: readonly [imports: string, value: string]
  /** What a page imports and shows, as JSX; it is rendered by the server, and hydrated. */
  readonly page?: readonly [imports: string, jsx: string]
  /** Texts of the page, as text content of its document and of the hydrated page. */
  readonly shows: readonly string[]
  /** Packages of `install` that need their scripts, for an add-on. */
  readonly scripts?: readonly string[]
}
