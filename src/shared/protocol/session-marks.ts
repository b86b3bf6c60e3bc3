/**
 * Tells a browser for which sessions an answer was made, so that it drops what it holds when they change: after signing
 * in or out in another tab, and after a session was ended from another device. A mark is a part of a hash and signs
 * nobody in.
 *
 * Format: `<name>:<mark>`, separated by spaces, sorted; the mark `-` is no session. Browsers only compare the whole text:
 * pages that read different kinds of sessions drop each other's data. Part of the head of route data and of hydration data,
 * if the request has opened a session that is kept on the server before they are sent.
 */

/** Writes marks by the name of their session. */
export function writeSessionMarks(marks: ReadonlyMap<string, string>): string {
  return [...marks]
    .map((pair) => pair.join(':'))
    .toSorted()
    .join(' ')
}
