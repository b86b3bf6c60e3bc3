import { permanentRedirect } from 'millrace/server'

/** Leaves with 308. */
export function loader(): never {
  permanentRedirect('/lab/landed')
}
