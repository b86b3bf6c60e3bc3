import type { PageTexts, TextsPage } from '../../../shared/texts.ts'
import type { RequestContext } from '../context.ts'
import { reportFailure } from './failure.ts'

export const ENGLISH: PageTexts = {
  language: 'en',
  titles: {},
  forms: {},
  serverFailure: 'Application error: a server-side exception has occurred',
  digest: 'Digest: %s',
  again: 'Try again',
  home: 'Home',
  refused: 'This request was refused: %s.',
  outside: 'The pages of this site begin with %s.',
  overloaded: 'Too busy. Please try again in a moment.',
  partFollows: 'This part follows at the end of the page.',
  partMissing: 'A part of this page cannot be shown.',
  tooLarge: 'Too large: at most %s.',
  tooManyFiles: 'Too many files: at most %s.',
  tooManyFaults: 'Too much of this does not fit.',
}

/**
 * The texts of a request's page. If the application's function fails, that is reported, and they are English.
 * @param pathname if the URL was refused.
 */
export function textsOf(context: RequestContext, pathname = context.pathname): PageTexts {
  const source = context.services.texts
  if (source === undefined) return ENGLISH
  try {
    const said = source.of(textsPage(context, pathname)) ?? {}
    const own = Object.entries(said).filter(([, text]) => text !== undefined)
    const texts = { ...ENGLISH, ...Object.fromEntries(own) }
    // A language that a visitor has made up, by a param of the URL, is none of a page, and numbers cannot be written in it.
    return isLanguage(texts.language) ? texts : { ...texts, language: ENGLISH.language }
  } catch (thrown) {
    reportFailure(thrown, context, 'server')
    return ENGLISH
  }
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

/** The page for which an application says texts. */
export function textsPage(context: RequestContext, pathname = context.pathname): TextsPage {
  const params = context.services.texts?.match(pathname)?.params ?? {}
  return { params, pathname, acceptLanguage: context.req.headers['accept-language'] }
}

/** Puts a value into a text. */
export function fill(text: string, value: string): string {
  return text.replace('%s', () => value)
}
