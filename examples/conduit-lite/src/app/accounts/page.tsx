import { href, Link, type PageProps } from 'millrace'
import { Avatar } from '../articles/preview.tsx'
import { ActionForm } from '../form.tsx'
import { changePicture, endDevice } from './actions.server.ts'

type Props = PageProps<'/account', typeof import('./loader.server.ts')>

export const metadata = { title: 'Account' }

export default function AccountPage({ data: { name, avatar, devices } }: Props) {
  const picture = { name: 'picture', type: 'file', label: 'PNG, JPEG or WebP, up to 256 kB' } as const
  return (
    <section className="narrow">
      <h1>Account</h1>
      <p className="byline">
        <Avatar name={name} file={avatar} />
        <Link href={href('/', {}, { author: name })}>Your articles</Link>
      </p>
      <ActionForm id="picture" action={changePicture} fields={[picture]} button="Change the picture" />
      <h2>Devices</h2>
      <ul className="rows">
        {devices.map(({ id, isCurrent, userAgent }) => (
          <li key={id}>
            <p>{userAgent === '' ? 'A browser without a name' : userAgent}</p>
            {isCurrent ? (
              <small>This device</small>
            ) : (
              <form action={endDevice.bind(null, id)}>
                <button className="quiet">Sign out</button>
              </form>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
