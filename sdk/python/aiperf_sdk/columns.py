"""Columns of a batch as Python lists, and back."""

from wit_world.imports import types


def values(batch, index):
    """Column `index` of the metric's `needs`: a number or a text per record; None where there is none."""
    column = batch.columns[index]
    if isinstance(column, types.ColumnRef_Missing):
        return [None] * batch.len
    inner = column.value
    if isinstance(column, types.ColumnRef_Text):
        # Ends count bytes.
        data, start, found = inner.text.encode(), 0, []
        for end in inner.ends:
            found.append(data[start:end].decode())
            start = end
    else:
        found = list(inner.values)
    if not inner.validity:
        return found
    return [value if there else None for value, there in zip(found, inner.validity)]


def lists(batch, index):
    """Column `index` of the metric's `needs`: a list of numbers per record; None where there is none."""
    column = batch.columns[index]
    if isinstance(column, types.ColumnRef_Missing):
        return [None] * batch.len
    inner, start, found = column.value, 0, []
    for index, end in enumerate(inner.ends):
        there = not inner.validity or inner.validity[index]
        found.append(list(inner.values[start:end]) if there else None)
        start = end
    return found


def _with_validity(found, nothing):
    validity = bytes(value is not None for value in found)
    return [nothing if value is None else value for value in found], b"" if all(validity) else validity


def reals(found):
    """A column of real numbers, or None, per record."""
    return types.Column_F64(types.Reals(*_with_validity(found, 0.0)))


def integers(found):
    """A column of integers, or None, per record."""
    return types.Column_U64(types.Integers(*_with_validity(found, 0)))
