import { redirect } from 'millrace/server'

/** Leaves with 307. */
export function loader(): never {
  redirect('/lab/landed')
}
