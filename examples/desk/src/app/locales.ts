export const LOCALES = ['en', 'de'] as const
export type Locale = (typeof LOCALES)[number]

const MOST_CHARACTERS = 200 // browsers send fewer than 50

/** @param text a param of a URL, which may be anything. */
export function toLocale(text: unknown): Locale {
  return LOCALES.find((known) => known === text) ?? LOCALES[0]
}

/** The best of our locales for an `Accept-Language` header. */
export function chooseLocale(header: string | null): Locale {
  const asked = (header ?? '').slice(0, MOST_CHARACTERS).toLowerCase().split(',')
  const weighed = asked.map((part) => {
    const [range = '', weight] = part.trim().split(/\s*;\s*q=/)
    return { language: range.split('-')[0], weight: Number(weight ?? 1) }
  })
  const ours = weighed.filter(({ language, weight }) => weight > 0 && LOCALES.some((locale) => locale === language))
  return toLocale(ours.toSorted((one, other) => other.weight - one.weight)[0]?.language)
}

/** For loaders: both sides then render the same text. */
export function timeIn(locale: string): (at: number) => string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  return (at) => format.format(at)
}
