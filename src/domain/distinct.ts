/** Without what repeats an earlier item. Items are compared as JSON. */
export const distinct = <Item>(items: readonly Item[]): Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];
