import { notFound } from 'millrace/server'

/** Refuses before anything has been sent, so that the status can still say so. */
export function loader(): never {
  notFound()
}
