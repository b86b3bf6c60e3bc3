import { href, Link, type PageProps } from 'millrace'

type Props = PageProps<'/mills/[id]', typeof import('./loader.server.ts')>

export const metadata = ({ data }: Props) => ({ title: data.mill.name })

export default function MillPage({ data: { mill, others } }: Props) {
  return (
    <>
      <h1>{mill.name}</h1>
      <p>{`It has ${mill.wheels} wheels.`}</p>
      <ul>
        {others.map(({ id, name }) => (
          <li key={id}>
            <Link href={href('/mills/[id]', { id })}>{name}</Link>
          </li>
        ))}
      </ul>
    </>
  )
}
