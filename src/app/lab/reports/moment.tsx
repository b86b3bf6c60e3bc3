/** A moment, in one form for server and browser: their clocks and languages may differ. */
export function Moment({ at }: { readonly at: number }) {
  const moment = new Date(at).toISOString()
  return <time dateTime={moment}>{`${moment.slice(0, 10)} ${moment.slice(11, 19)} UTC`}</time>
}
