/**
 * Tells a browser for which sessions an answer was made, so that it drops what it holds when they change: after signing
 * in or out in another tab, and after a session was ended from another device. A mark is a part of a hash and signs
 * nobody in.
 *
 * Format: `<name>:<mark>` for sessions that are kept on the server, separated by spaces; then `~<name>:<mark>` for those
 * in a cookie; each sorted. The mark `-` means no session; for a session in a cookie it is random, the same until it is cleared,
 * or `+` if that knows its user. Then follows `.<user>` for each secret key that the server had when the session began: parts of
 * keyed hashes, of which two sessions of a user have one in common. An answer names the sessions that it has opened, and
 * browsers compare each with what they know of its name. Users decide who gets typed input back. Part of the head of route
 * data and of hydration data, if the request has opened a session before they are sent; otherwise a record, or a late fact,
 * follows. Event streams send those with users.
 */

/** Name of the event by which a stream tells `useEvents` the marks of its users, as a JSON text, before anything of theirs. */
export const SESSIONS_EVENT = 'millrace:sessions'

/** The mark of no session. */
export const NO_SESSION = '-'

/** The mark of a session in a cookie. */
export const SOME_SESSION = '+'

/** Written before the name of a session in a cookie. */
export const IN_COOKIE = '~'

/** One of them: name, mark and users. */
export const MARK = /(\S+?):([^ ~.]+)([^ ~]*)/g

/** Writes marks by the name of their session. */
export function writeSessionMarks(marks: ReadonlyMap<string, string>): string {
  return [...marks]
    .map((pair) => pair.join(':'))
    .toSorted()
    .map((mark) => (mark.startsWith(IN_COOKIE) ? mark : ` ${mark}`))
    .join('')
    .trim()
}

/**
 * Adds the marks of an answer to those that a tab knows.
 * @returns a text that begins with `known` unless a session has become another.
 */
export function mergeMarks(known: string, news = ''): string {
  const marks = new Map<string | undefined, string>()
  for (const [mark, name] of (known + news).matchAll(/(\S+?):[^ ~]+/g)) marks.set(name, `${mark} `)
  return [...marks.values()].join('')
}

/**
 * Whether a session has become another, and whether it was one of a user who has left. A session that gets a new id, with a user
 * in common, is the same. Another kind of session says nothing of who goes on: it may be that of a basket.
 */
export function changesOf(former: string, marks: string): readonly [isOther: boolean, isFormer: boolean] {
  const sessions = new Map(Array.from(marks.matchAll(MARK), ([, name, id, users]) => [name, { id, users }]))
  let isOther = false
  let isFormer = false
  for (const [, name, id, users = ''] of former.matchAll(MARK)) {
    const now = sessions.get(name)
    const isSame = users.split('.').some((user) => user && now?.users?.split('.').includes(user))
    if (isSame || (id === now?.id && users === now?.users)) continue
    isOther = true
    isFormer ||= id !== '-'
  }
  return [isOther, isFormer]
}
