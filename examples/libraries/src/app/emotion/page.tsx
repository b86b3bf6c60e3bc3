import { Suspense, use, useState } from 'react'
import styled from '@emotion/styled'
import type { PageProps } from 'millrace'

type Props = PageProps<'/emotion', typeof import('./loader.server.ts')>

export const metadata = { title: 'Emotion' }

const Water = styled.button<{ readonly level: number }>`
  padding: ${({ level }) => level}px;
  border: 1px solid #1b6ca8;
`

const Late = styled.strong`
  color: teal;
`

export default function EmotionPage({ data }: Props) {
  const [level, setLevel] = useState(8)
  return (
    <>
      <h1>Emotion</h1>
      <Water type="button" level={level} onClick={() => setLevel(level + 8)}>
        Let water in
      </Water>
      <Suspense fallback={<p>Reading the gauge</p>}>
        <Gauge level={data.level} />
      </Suspense>
    </>
  )
}

/** Its rules are sent with the part of the document that it is in. */
function Gauge({ level }: { readonly level: Promise<number> }) {
  const [isNoted, setNoted] = useState(false)
  return (
    <p>
      <Late>{`${use(level)} cm`}</Late>{' '}
      <button type="button" onClick={() => setNoted(true)}>
        {isNoted ? 'Noted' : 'Note it'}
      </button>
    </p>
  )
}
