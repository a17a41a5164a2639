/** What src/engine/unshred/kernel/elements.as knows of its memory: made of the constants that TypeScript works with. */
import * as layout from '../../src/engine/unshred/kernel/layout.ts';
import { pick, type Prelude } from './prelude.ts';

export const elementsPrelude: Prelude = {
  controlAt: layout.CONTROL_AT,
  slots: {
    ...pick(layout, 'NODES', 'TABLES', 'OUT', 'OUT_LIMIT', 'SCRATCH', 'SCRATCH_LIMIT', 'TOUCHED'),
    ...pick(layout, 'TOUCHED_COUNT', 'WHY', 'SUBJECT'),
  },
  fields: {
    ...pick(layout, 'TABLE_BYTES', 'TABLE_CELLS', 'TABLE_AT', 'TABLE_END', 'TABLE_STRIDE', 'TABLE_KEY'),
    ...pick(layout, 'TABLE_MOVES', 'TABLE_TAKEN', 'TABLE_BEFORE', 'TABLE_HAS_BESIDE', 'TABLE_IS_LAST'),
    ...pick(layout, 'NODE_TEXT', 'NODE_IS_FREE', 'NODE_EMPTY', 'NODE_EMPTY_COUNT', 'NODE_ATTRIBUTES'),
    ...pick(layout, 'NODE_ATTRIBUTE_COUNT', 'NODE_GROUPS', 'NODE_GROUP_COUNT', 'NODE_CONTENTS'),
    ...pick(layout, 'NODE_CONTENT_COUNT', 'NODE_FOLDED', 'NODE_FOLDED_COUNT'),
    ...pick(layout, 'ATTRIBUTE_COLUMN', 'ATTRIBUTE_NAME', 'ATTRIBUTE_NAME_LENGTH'),
    ...pick(layout, 'GROUP_TABLE', 'GROUP_POSITION', 'GROUP_KEY', 'GROUP_USES', 'GROUP_USE_COUNT'),
    ...pick(layout, 'USE_PARENT_KEY', 'USE_CHILD_KEY', 'USE_ELEMENT_NAME', 'USE_BY_ROLE', 'USE_EMPTY'),
    ...pick(layout, 'USE_EMPTY_COUNT', 'USE_CHILDREN', 'USE_CHILD_COUNT'),
    ...pick(layout, 'CHILD_TAG', 'CHILD_TAG_LENGTH', 'CHILD_LABEL', 'CHILD_LABEL_LENGTH', 'CHILD_NODE'),
    ...pick(layout, 'CONTENT_TABLE', 'CONTENT_IS_MARKUP', 'CONTENT_PARENT_KEY', 'CONTENT_POSITION'),
    ...pick(layout, 'CONTENT_COLUMN'),
    ...pick(layout, 'FOLDED_TAG', 'FOLDED_TAG_LENGTH', 'FOLDED_LABEL', 'FOLDED_LABEL_LENGTH', 'FOLDED_NODE'),
    ...pick(layout, 'FOLDED_POSITION', 'FOLDED_PRESENCE', 'FOLDED_ELEMENT_NAME', 'FOLDED_COLUMNS'),
    ...pick(layout, 'FOLDED_COLUMN_COUNT', 'FOLDED_ROWS', 'FOLDED_ROW_COUNT'),
    ...pick(layout, 'EVIDENT_TABLE', 'EVIDENT_PARENT_KEY', 'EVIDENT_ROLE', 'EVIDENT_LABEL'),
    ...pick(layout, 'EVIDENT_LABEL_LENGTH'),
  },
  offsets: pick(layout, 'TABLE_NEXT_BESIDE', 'TABLE_BYTES_OF_RECORD', 'NEXT_BYTES', 'PLACED_BYTES'),
  integers: {
    ...pick(layout, 'WHY_LEFT', 'WHY_UNKNOWN_NODE', 'WHY_ENDED', 'MOST_DEPTH'),
    ...pick(layout, 'ATTRIBUTE_INTS', 'GROUP_INTS', 'USE_INTS', 'CHILD_INTS', 'CONTENT_INTS', 'EVIDENT_INTS'),
  },
};
