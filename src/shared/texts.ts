/** Built-in texts for visitors, in English unless the application says them. */

/** The page whose texts are needed. */
export interface TextsPage {
  /** Decoded params of the page; empty if none matches the URL. */
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Path of the URL, still percent-encoded, without base path and query. */
  readonly pathname: string
  /** `Accept-Language` of the request; on the server only. */
  readonly acceptLanguage?: string | undefined
}

/** All built-in texts. `%s` is replaced as described. */
export interface Texts extends PageTexts, BrowserTexts {}

/** Texts that the server says. */
export interface PageTexts {
  /** Language of all these texts, for the `lang` of the runtime's own pages and for numbers (BCP 47): `en`. */
  readonly language: string
  /** Titles of the runtime's own pages by status, behind the number: `{ 404: 'Not Found' }`. */
  readonly titles: Readonly<Partial<Record<number, string>>>
  /** Why a form is refused, by status: 400, 403, 404, 405, 408, 409, 413, 415, 429, 500, 503. */
  readonly forms: Readonly<Partial<Record<number, string>>>
  /** A malformed request. `%s`: the reason, in English and for developers. */
  readonly refused: string
  /** A URL outside of the base path. `%s`: the base path. */
  readonly outside: string
  /** A page, under overload. */
  readonly overloaded: string
  /** In the place of a streamed part, without JavaScript. */
  readonly partFollows: string
  /** A streamed part has failed, without JavaScript. */
  readonly partMissing: string
  /** At the field of a file. `%s`: the limit, such as `2 MB`. */
  readonly tooLarge: string
  /** At the field of files. `%s`: how many may be sent. */
  readonly tooManyFiles: string
  /** The input has more faults than a schema can collect. */
  readonly tooManyFaults: string
  /** A failure of the server. */
  readonly serverFailure: string
  /** `%s`: the digest of the failure. */
  readonly digest: string
  /** A button or a link. */
  readonly again: string
  /** A link to the home page. */
  readonly home: string
}

/** Texts that the browser says. */
interface BrowserTexts {
  /** A file of the page has not loaded. */
  readonly notLoaded: string
  /** A button or a link. */
  readonly reload: string
  /** A form was not sent. `%s`: the text of its button. */
  readonly notSent: string
  /** The same, if the button has no text. */
  readonly notSentUnnamed: string
  /** The device has no network. */
  readonly offline: string
  /** The server cannot be reached. */
  readonly unreachable: string
  /** The server is overloaded. */
  readonly busy: string
  /** It will send itself. */
  readonly itself: string
  /** The network is back, but it does not send itself. */
  readonly back: string
  /** The same, for a call that is too old for the server to recognise. */
  readonly backLate: string
  /** A form is being sent again. */
  readonly sending: string
  /** A form has been sent at last. */
  readonly sent: string
  /** A button. */
  readonly again: string
  /** A button: the form is not sent. */
  readonly cancel: string
}

/** Returns the texts of a page; texts that it leaves out are English. */
export type TextsOf = (page: TextsPage) => Partial<Texts> | undefined

/** Says an application's texts for the page on screen, by its params. Does not reject. */
export type SayTexts = (params: TextsPage['params']) => Promise<Partial<Texts> | undefined>

/** As `TextsOf` in the browser, where a language may be loaded on demand. */
export type BrowserTextsOf = (page: TextsPage) => Partial<Texts> | undefined | Promise<Partial<Texts> | undefined>
