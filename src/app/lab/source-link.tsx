import { href, Link } from 'millrace'
import { sourceName } from './source-name.ts'

/** Props of `SourceLink`. */
export interface SourceLinkProps {
  /** The pattern of an experiment's route, with or without a query behind it. */
  readonly pattern: string
  /** The id of the element that says whose source it is, where several are linked. */
  readonly describedBy?: string
}

/** Leads to the sources of one experiment. Nothing is loaded ahead: it would be one more request to watch. */
export function SourceLink({ pattern, describedBy }: SourceLinkProps) {
  return (
    <Link
      href={href('/lab/source/[...path]', { path: sourceName(pattern).split('/') })}
      prefetch="none"
      aria-describedby={describedBy}
    >
      Source
    </Link>
  )
}
