"""The form and the raw JSON: in step both ways, and nothing is sent that a person did not see."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLineEdit, QPushButton, QSlider, QSpinBox, QToolButton

from mcp_patchbay.domain.json_text import same_json
from mcp_patchbay.ui.playground.arguments import ArgumentsPane
from mcp_patchbay.ui.playground.editors import GrowingText
from mcp_patchbay.ui.widgets import FieldError

NULL = {"type": "null"}


@pytest.fixture
def pane(qapp: QApplication) -> Iterator[ArgumentsPane]:
    made = ArgumentsPane()
    made.resize(900, 500)
    made.show()
    qapp.processEvents()
    yield made
    made.close()
    made.deleteLater()
    qapp.processEvents()


def named(pane: ArgumentsPane, kind: type, name: str) -> Any:
    """The widget of that kind with that accessible name."""
    [found] = [widget for widget in pane.findChildren(kind) if widget.accessibleName() == name and widget.isVisible()]
    return found


def type_into(pane: ArgumentsPane, name: str, text: str) -> None:
    fields = [*pane.findChildren(GrowingText), *pane.findChildren(QLineEdit)]
    field = next(field for field in fields if field.accessibleName() == name)
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)


def show(pane: ArgumentsPane, properties: dict[str, Any], **rest: Any) -> None:
    pane.show_tool({"type": "object", "properties": properties, **rest}, None)
    QApplication.processEvents()


def errors_shown(pane: ArgumentsPane) -> list[str]:
    return [error.text() for error in pane.findChildren(FieldError) if error.text()]


def test_what_is_typed_into_the_form_is_in_the_raw_json_as_real_types(pane: ArgumentsPane) -> None:
    show(pane, {"q": {"type": "string"}, "top": {"type": "integer"}, "ratio": {"type": "number"}}, required=["q"])
    type_into(pane, "q", "1")
    type_into(pane, "top", "9007199254740993")
    type_into(pane, "ratio", "0.5")
    assert json.loads(pane.raw_text()) == {"q": "1", "top": 9007199254740993, "ratio": 0.5}
    assert pane.arguments() == {"q": "1", "top": 9007199254740993, "ratio": 0.5}


def test_what_is_typed_as_raw_json_is_in_the_form(pane: ArgumentsPane) -> None:
    show(pane, {"q": {"type": "string"}, "on": {"type": "boolean"}, "n": {"type": "integer"}})
    pane.set_raw_text('{"q": "a\\nb", "on": false, "n": 7}')
    assert named(pane, GrowingText, "q").raw_text() == "a\nb"
    assert named(pane, QComboBox, "on").currentText() == "false"
    assert named(pane, QLineEdit, "n").text() == "7"


def test_an_optional_field_that_is_emptied_is_left_out(pane: ArgumentsPane) -> None:
    show(pane, {"q": {"type": "string"}, "page": {"anyOf": [{"type": "integer"}, NULL], "default": None}})
    assert pane.arguments() == {}
    type_into(pane, "q", "x")
    type_into(pane, "page", "2")
    assert pane.arguments() == {"q": "x", "page": 2}
    type_into(pane, "page", "")
    type_into(pane, "q", "")
    assert pane.arguments() == {}


def test_null_and_the_empty_text_are_sent_on_purpose_only(pane: ArgumentsPane) -> None:
    show(pane, {"q": {"type": "string"}, "c": {"anyOf": [{"type": "string"}, NULL], "default": None}})
    named(pane, QCheckBox, "Send q").click()
    named(pane, QCheckBox, "c is null").click()
    assert pane.arguments() == {"q": "", "c": None}
    named(pane, QCheckBox, "Send q").click()
    named(pane, QCheckBox, "Send c").click()
    assert pane.arguments() == {}


def test_a_tick_that_is_taken_away_and_set_again_brings_the_value_back(pane: ArgumentsPane) -> None:
    show(pane, {"q": {"type": "string"}})
    type_into(pane, "q", "kept")
    tick = named(pane, QCheckBox, "Send q")
    tick.click()
    assert pane.arguments() == {}
    tick.click()
    assert pane.arguments() == {"q": "kept"}


def test_a_text_that_is_no_number_is_said_and_blocks_the_call(pane: ArgumentsPane) -> None:
    show(pane, {"n": {"type": "integer"}}, required=["n"])
    type_into(pane, "n", "12x")
    assert errors_shown(pane) == ["must be a whole number"]
    assert pane.arguments() is None
    type_into(pane, "n", "12")
    assert errors_shown(pane) == []
    assert pane.arguments() == {"n": 12}


def test_bad_raw_json_is_said_with_its_place_and_blocks_the_call(pane: ArgumentsPane) -> None:
    show(pane, {"n": {"type": "integer"}})
    pane.set_raw_text('{"n": 1,\n "m": }')
    assert pane.arguments() is None
    assert any(
        "line 2" in label.accessibleName() for label in pane.findChildren(object) if hasattr(label, "accessibleName")
    )
    pane.set_raw_text("[1]")
    assert pane.arguments() is None
    pane.set_raw_text('{"n": 1}')
    assert pane.arguments() == {"n": 1}


def test_enum_values_keep_their_types(pane: ArgumentsPane) -> None:
    show(pane, {"b": {"enum": [1, "1", None, True]}})
    combo = named(pane, QComboBox, "b")
    for place, value in enumerate([1, "1", None, True]):
        combo.setCurrentIndex(place)
        combo.activated.emit(place)
        arguments = pane.arguments()
        assert arguments is not None
        assert same_json(arguments["b"], value)


@pytest.mark.qt_log_ignore("This plugin does not support")  # of the offscreen platform, about the list that pops up
def test_an_enum_of_twenty_thousand_values_is_searched_by_typing(pane: ArgumentsPane) -> None:
    show(pane, {"c": {"enum": [f"v{n:05d}" for n in range(20_000)]}})
    combo = named(pane, QComboBox, "c")
    combo.setFocus()
    QTest.keyClicks(combo.lineEdit(), "v12345")
    QTest.keyClick(combo.lineEdit(), Qt.Key.Key_Return)
    assert pane.arguments() == {"c": "v12345"}
    combo.lineEdit().selectAll()
    QTest.keyClicks(combo.lineEdit(), "no such value")
    combo.lineEdit().editingFinished.emit()
    assert pane.arguments() == {"c": "v12345"}
    assert combo.currentText() == "v12345"


def test_a_bounded_number_has_a_slider_and_starts_without_a_value(pane: ArgumentsPane) -> None:
    show(pane, {"n": {"type": "integer", "minimum": 1, "maximum": 100}})
    assert pane.arguments() == {}
    spin, slider = named(pane, QSpinBox, "n"), pane.findChild(QSlider)
    slider.setValue(40)
    assert pane.arguments() == {"n": 40}
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, "7")
    assert (pane.arguments(), slider.value()) == ({"n": 7}, 7)
    pane.set_raw_text('{"n": 1000}')
    assert pane.arguments() == {"n": 1000}
    assert errors_shown(pane) == ["must be at most 100"]


def test_rows_of_a_list_are_added_filled_and_taken_out(pane: ArgumentsPane) -> None:
    row = {"type": "object", "properties": {"category": {"type": "string"}, "value": {"type": "number"}}}
    show(pane, {"data": {"type": "array", "items": {**row, "required": ["category", "value"]}}}, required=["data"])
    add = named(pane, QPushButton, "Add to data")
    add.click()
    add.click()
    type_into(pane, "data, item 1, category", "a")
    type_into(pane, "data, item 1, value", "1")
    type_into(pane, "data, item 2, category", "b")
    assert pane.arguments() == {"data": [{"category": "a", "value": 1}, {"category": "b"}]}
    named(pane, QToolButton, "Remove data, item 1").click()
    assert pane.arguments() == {"data": [{"category": "b"}]}


def test_an_optional_object_is_sent_once_it_is_wanted(pane: ArgumentsPane) -> None:
    inner = {"type": "object", "properties": {"page": {"type": "integer", "default": 1}, "q": {"type": "string"}}}
    show(pane, {"params": inner})
    assert pane.arguments() == {}
    named(pane, QCheckBox, "Send params").click()
    QApplication.processEvents()
    type_into(pane, "params, q", "x")
    assert pane.arguments() == {"params": {"page": 1, "q": "x"}}


def test_a_json_box_takes_any_json_and_says_what_is_not(pane: ArgumentsPane) -> None:
    show(pane, {"node": {}, "s": {"type": "string"}})
    type_into(pane, "node", '{"a": [1, nul')
    assert pane.arguments() is None
    assert "line 1" in errors_shown(pane)[0]
    type_into(pane, "node", '{"a": [1, null]}')
    assert pane.arguments() == {"node": {"a": [1, None]}}


def test_a_needed_field_is_pointed_out_only_when_a_person_wants_to_run(pane: ArgumentsPane) -> None:
    show(pane, {"q": {"type": "string"}}, required=["q"])
    assert errors_shown(pane) == []
    assert [str(problem.text) for problem in pane.problems()] == ["needed"]
    pane.reveal_problems()
    assert errors_shown(pane) == ["needed"]
    type_into(pane, "q", "x")
    assert errors_shown(pane) == []
    assert pane.problems() == ()


def test_a_problem_deep_inside_stands_beside_its_own_field(pane: ArgumentsPane) -> None:
    row = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}}
    show(pane, {"rows": {"type": "array", "items": row}})
    pane.set_raw_text('{"rows": [{"n": 9}, {"n": 1}]}')
    assert named(pane, QLineEdit, "rows, item 1, n").property("bad") is not True
    assert named(pane, QLineEdit, "rows, item 2, n").property("bad") is True


def test_the_form_gives_back_whatever_value_it_was_given(pane: ArgumentsPane) -> None:
    """Also values that break the schema: the form shows what it can and changes nothing unasked."""
    properties = {
        "s": {"type": "string"},
        "i": {"type": "integer"},
        "b": {"type": "integer", "minimum": 0, "maximum": 9},
        "n": {"anyOf": [{"type": "number"}, NULL]},
        "t": {"type": "boolean"},
        "e": {"enum": ["a", 1, None]},
        "l": {"type": "array", "items": {"type": "string"}},
        "o": {
            "type": "object",
            "properties": {"x": {"type": "string"}, "r": {"type": "array", "items": {"type": "integer"}}},
        },
        "j": {},
    }
    chance = random.Random(3)

    def value(depth: int = 0) -> Any:
        plain = [None, True, False, 0, 7, -1, 2**60, 1.0, 0.25, "", "a", "x\ny", "null", "\u00a0", []]
        if depth > 2 or chance.random() < 0.6:
            return chance.choice(plain)
        if chance.random() < 0.5:
            return [value(depth + 1) for _ in range(chance.randint(0, 3))]
        return {key: value(depth + 1) for key in chance.sample(["x", "r", "z"], chance.randint(0, 3))}

    show(pane, properties)
    form = pane._form
    assert form is not None
    for _ in range(150):
        given = {key: value() for key in chance.sample([*properties, "other"], chance.randint(0, 10))}
        form.set_value(given)
        assert same_json(form.value(), given)


def test_editing_one_field_leaves_odd_values_of_the_others_as_they_were(pane: ArgumentsPane) -> None:
    show(pane, {"s": {"type": "string"}, "i": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}}})
    pane.set_raw_text('{"s": "a", "i": "seven", "l": {"not": "a list"}, "more": [1]}')
    type_into(pane, "s", "b")
    assert pane.arguments() == {"s": "b", "i": "seven", "l": {"not": "a list"}, "more": [1]}


@pytest.mark.parametrize("schema", [None, [], 7, {"type": "string"}, {"type": "object"}, {}, True])
def test_without_a_form_raw_json_still_works(pane: ArgumentsPane, schema: Any) -> None:
    pane.show_tool(schema, None)
    pane.set_raw_text('{"k": "v"}')
    assert pane.arguments() == {"k": "v"}


def test_a_fresh_form_of_a_needed_search_shows_defaults(pane: ArgumentsPane) -> None:
    show(pane, {"top": {"type": "integer"}, "big": {"type": "integer", "default": 9007199254740993},
                "on": {"type": "boolean", "default": True}})  # fmt: skip
    type_into(pane, "top", "1")
    assert pane.raw_text() == '{\n  "top": 1,\n  "big": 9007199254740993,\n  "on": true\n}'


def test_undo_in_the_raw_json_takes_back_an_edit_of_the_form(pane: ArgumentsPane) -> None:
    show(pane, {"q": {"type": "string"}})
    pane.set_raw_text('{"q": "before"}')
    type_into(pane, "q", "")
    pane._raw.undo()
    assert pane.arguments() == {"q": "before"}


def test_every_field_can_be_reached_with_tab_and_has_a_name(pane: ArgumentsPane, qapp: QApplication) -> None:
    show(pane, {"a": {"type": "string"}, "b": {"type": "boolean"}, "c": {}}, required=["a", "b", "c"])
    pane.activateWindow()
    pane.focus_first()
    seen = []
    for _ in range(3):
        seen.append(qapp.focusWidget().accessibleName())
        QTest.keyClick(qapp.focusWidget(), Qt.Key.Key_Tab)
    assert seen == ["a", "b", "c"]
