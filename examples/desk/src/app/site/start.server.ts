import { href, redirect, type LoaderArgs } from 'millrace/server'
import { chooseLocale } from '../locales.ts'

export function loader({ request }: LoaderArgs<'/'>): never {
  redirect(href('/[locale]', { locale: chooseLocale(request.headers.get('accept-language')) }))
}
