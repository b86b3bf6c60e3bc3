export { default } from '../../app/layout.jsx'
