import { createWords } from './words.ts'

export const benefitWords = createWords({
  cap: [', hasta {money}', ', up to {money}'],
  percent: ['{percent} de descuento{where}', '{percent} discount{where}'],
  'percent.value': ['{value} %', '{value}%'],
  'percent.all': ['Gratis{where}', 'Free{where}'],
  fixed: ['{money} de descuento{where}', '{money} discount{where}'],
  multibuy: ['{deal}{where}', '{deal}{where}'],
  gift: ['Comprando {bought}, {gift} de regalo', 'Buy {bought}, get {gift} free'],
  'gift.same': ['Comprando {bought}, otro de regalo', 'Buy {bought}, get another one free'],
  free: ['Gratis: {items}', 'Free: {items}'],
  where: [' en {products}', ' on {products}'],
  'where.all': [' en toda tu compra', ' on everything you buy'],
  'badge.gift': ['De regalo', 'A gift'],
  'badge.free': ['Gratis', 'Free'],
})
