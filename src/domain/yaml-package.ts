/** The yaml package for blocks that aren't simple: loaded with the first of them, since most notes have none. */
import type * as Yaml from "yaml";
import { late } from "../lib/late.ts";

const yaml = late<typeof Yaml>("yaml");

export const parseDocument = ((...given) =>
  yaml().parseDocument(...given)) satisfies typeof Yaml.parseDocument;
export const lineCounter = (): Yaml.LineCounter => new (yaml().LineCounter)();

// As the package's own, which a function around them can't say without repeating what it narrows to.
export const isAlias = ((node) => yaml().isAlias(node)) as typeof Yaml.isAlias;
export const isMap = ((node) => yaml().isMap(node)) as typeof Yaml.isMap;
export const isNode = ((node) => yaml().isNode(node)) as typeof Yaml.isNode;
export const isScalar = ((node) => yaml().isScalar(node)) as typeof Yaml.isScalar;
export const isSeq = ((node) => yaml().isSeq(node)) as typeof Yaml.isSeq;
