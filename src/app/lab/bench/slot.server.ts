import type { VisitorArgs } from 'millrace/server'

const MOST_CHARACTERS = 100

/** The name in the visitor's cookie. */
export function visitor({ context }: VisitorArgs) {
  return { name: context.cookie('visitor')?.slice(0, MOST_CHARACTERS) ?? 'nobody' }
}
