import type { ReactNode } from 'react'
import { withBasePath } from '../../shared/base-path.ts'
import type { Metadata } from '../module-types.ts'

/** Props of `HeadTags`. */
interface HeadTagsProps {
  readonly metadata: Metadata
  /** Makes a relative canonical URL absolute, and those of Open Graph. */
  readonly origin: string | undefined
}

/** Title and meta elements of the view. Only the server writes JSON-LD, for crawlers of documents. */
export function HeadTags({ metadata, origin }: HeadTagsProps): ReactNode {
  const { title, description, canonical, robots, openGraph = {}, meta = {} } = metadata
  return (
    <>
      {typeof title === 'string' && <title>{title}</title>}
      {canonical !== undefined && <link rel="canonical" href={absoluteUrl(canonical, origin)} />}
      {/* Whoever reads Open Graph takes absolute URLs only. */}
      {Object.entries(openGraph).map(([property, content]) => (
        <meta
          key={property}
          property={`og:${property}`}
          content={/(url|image|audio|video)$/.test(property) ? absoluteUrl(content, origin) : content}
        />
      ))}
      {Object.entries({ description, robots, ...meta }).map(
        ([name, content]) => content !== undefined && <meta key={name} name={name} content={content} />,
      )}
    </>
  )
}

function absoluteUrl(url: string, origin: string | undefined): string {
  return origin !== undefined && url.startsWith('/') ? origin + withBasePath(url) : withBasePath(url)
}
