export { default } from '../../../../../app/lab/bench/layout.jsx'
