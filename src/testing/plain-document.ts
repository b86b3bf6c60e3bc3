import { createElement, type ReactElement } from 'react'
import type { DocumentProps } from '../client/module-types.ts'

/** A document with nothing of its own. */
export function PlainDocument({ head, children }: DocumentProps): ReactElement {
  return createElement('html', { lang: 'en' }, createElement('head', null, head), createElement('body', null, children))
}
