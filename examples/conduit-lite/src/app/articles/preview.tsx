import { useActionState, type ReactNode } from 'react'
import { href, Link } from 'millrace'
import { favourite } from './actions.server.ts'
import type { Preview } from './store.server.ts'

/** Decoration: the name is always beside it. */
export function Avatar({ name, file }: { readonly name: string; readonly file: string | null }) {
  if (file !== null) return <img className="avatar" src={href('/avatars/[file]', { file })} alt="" />
  return (
    <i className="avatar" aria-hidden="true">
      {name.slice(0, 1).toUpperCase()}
    </i>
  )
}

type BylineProps = Pick<Preview, 'author' | 'avatar' | 'at'> & { readonly children?: ReactNode }

export function Byline({ author, avatar, at, children }: BylineProps) {
  return (
    <div className="byline">
      <Avatar name={author} file={avatar} />
      <p>
        <Link href={href('/', {}, { author })}>{author}</Link>
        <small>{at}</small>
      </p>
      {children}
    </div>
  )
}

export function FavouriteButton({ slug, favourites, isFavourite }: Omit<Preview, keyof BylineProps>) {
  const [state, formAction] = useActionState(favourite.bind(null, slug, !isFavourite), null)
  return (
    <form className="favourite" action={formAction}>
      <span role="alert">
        {state?.kind === 'stranger' ? 'Sign in to keep favourites.' : null}
        {state?.kind === 'failed' ? 'That did not work. Try again.' : null}
      </span>
      <button className="quiet" aria-label={`Favourite, ${favourites}`} aria-pressed={isFavourite}>
        {`♥ ${favourites}`}
      </button>
    </form>
  )
}

export function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <ul className="tags">
      {tags.map((tag) => (
        <li key={tag}>
          <Link href={href('/', {}, { tag })}>{tag}</Link>
        </li>
      ))}
    </ul>
  )
}
