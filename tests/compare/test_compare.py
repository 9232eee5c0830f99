"""Tests of the comparison itself: a difference is found, named, accepted only where it is listed, and missed if it goes."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
_loader = importlib.machinery.SourceFileLoader("compare", os.path.join(HERE, "compare"))
_spec = importlib.util.spec_from_loader("compare", _loader)
compare = importlib.util.module_from_spec(_spec)
_loader.exec_module(compare)


class Case:
    def __init__(self, name):
        self.name = name


def transcript(*answers, **more):
    return dict(
        {"steps": [{"request": "Fetch v12", "answer": a} for a in answers], "requests": [{}] * len(answers)}, **more
    )


def run(kafka, thalweg, *known):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = compare.report(
            [Case("a/b")], {"a/b": kafka}, {"a/b": thalweg}, list(map(compare.Known, known)), False, False
        )
    return status, out.getvalue()


class DifferenceTest(unittest.TestCase):
    def test_equal_answers_have_none(self):
        self.assertEqual(compare.difference({"a": [1, None]}, {"a": [1, None]}), [])

    def test_null_is_not_empty(self):
        self.assertEqual(compare.difference({"a": None}, {"a": []}), [("a", None, [])])
        self.assertEqual(compare.difference({"a": None}, {"a": ""}), [("a", None, "")])

    def test_false_is_not_zero(self):
        self.assertEqual(compare.difference({"a": False}, {"a": 0}), [("a", False, 0)])

    def test_a_field_that_is_missing_or_new_is_named(self):
        self.assertEqual(compare.difference({"a": 1}, {"b": 2}), [("a", 1, "nothing"), ("b", "nothing", 2)])

    def test_another_order_is_told_from_other_elements(self):
        self.assertEqual(compare.difference({"a": [1, 2]}, {"a": [2, 1]}), [("a (order)", [1, 2], [2, 1])])
        self.assertEqual(compare.difference({"a": [1, 2]}, {"a": [1, 3]}), [("a[1]", 2, 3)])

    def test_named_elements_are_matched_by_their_name(self):
        found = compare.difference([{"name": "x", "v": 1}, {"name": "y", "v": 2}], [{"name": "y", "v": 3}])
        self.assertEqual(found, [("[x]", {"name": "x", "v": 1}, "nothing"), ("[y].v", 2, 3)])

    def test_closed_is_not_an_answer(self):
        self.assertEqual(len(compare.difference("closed", {"errorCode": 0})), 1)


class ReportTest(unittest.TestCase):
    def test_equal_transcripts_pass(self):
        status, text = run(transcript({"e": 0}), transcript({"e": 0}))
        self.assertEqual(status, 0)
        self.assertIn("1 passed, 0 failed, 0 skipped", text)

    def test_a_difference_fails_and_says_where(self):
        status, text = run(transcript({"t": [{"e": 0}]}), transcript({"t": [{"e": 3}]}))
        self.assertEqual(status, 1)
        self.assertIn("t[0].e: kafka 0 | thalweg 3", text)

    def test_a_step_more_or_less_fails(self):
        self.assertEqual(run(transcript({"e": 0}), transcript({"e": 0}, {"e": 0}))[0], 1)
        self.assertEqual(run(transcript({"e": 0}, {"e": 0}), transcript({"e": 0}))[0], 1)

    def test_a_wait_that_differs_fails(self):
        kafka, thalweg = transcript({"e": 0}), transcript({"e": 0})
        kafka["steps"][0]["waited"], thalweg["steps"][0]["waited"] = True, False
        self.assertEqual(run(kafka, thalweg)[0], 1)

    def test_a_case_that_could_not_be_carried_through_fails(self):
        self.assertEqual(run(transcript({"e": 0}), transcript({"e": 0}, failed="no topic"))[0], 1)

    def test_a_listed_difference_is_skipped(self):
        status, text = run(transcript({"e": 0}), transcript({"e": 3}), "a/* @e because")
        self.assertEqual(status, 0)
        self.assertIn("SKIP a/b: because", text)

    def test_what_is_listed_covers_nothing_else(self):
        self.assertEqual(run(transcript({"e": 0, "f": 0}), transcript({"e": 3, "f": 1}), "a/b @e because")[0], 1)

    def test_a_listed_difference_that_is_gone_fails(self):
        status, text = run(transcript({"e": 0}), transcript({"e": 0}), "a/b because")
        self.assertEqual(status, 1)
        self.assertIn("does not differ", text)

    def test_a_listed_difference_needs_a_reason(self):
        with self.assertRaises(ValueError):
            compare.Known("a/b @e")


ONE, TWO = (f"client-0000000{i}-0000-0000-0000-000000000000" for i in (1, 2))


class MemberIdTest(unittest.TestCase):
    def setUp(self):
        self.session = compare.harness.Session(None, "127.0.0.1", 9092, "r1234567", "a/b")

    def normal(self, value, message="JoinGroupResponse"):
        return self.session._normal(message, value, "", {})

    def test_a_random_id_is_named_at_first_sight_and_then_known(self):
        first = self.normal({"memberId": ONE, "leader": ONE})
        self.assertEqual(first, {"memberId": "<member 1: client-uuid>", "leader": "<member 1: client-uuid>"})
        second = self.normal({"memberId": TWO, "leader": ONE})
        self.assertEqual(second, {"memberId": "<member 2: client-uuid>", "leader": "<member 1: client-uuid>"})

    def test_what_a_random_id_begins_with_is_compared(self):
        self.assertEqual(self.normal({"memberId": "other" + ONE[6:]})["memberId"], "<member 1: other-uuid>")

    def test_an_id_that_is_not_random_stays(self):
        self.assertEqual(self.normal({"memberId": "someone", "leader": ""}), {"memberId": "someone", "leader": ""})

    def test_members_are_named_alike_whatever_their_order(self):
        members = [{"memberId": TWO, "metadata": b"a"}, {"memberId": ONE, "metadata": b"b"}]
        one = self.normal({"members": members})
        self.setUp()
        self.assertEqual(self.normal({"members": members[::-1]}), one)

    def test_known_members_in_another_order_keep_their_names(self):
        self.normal({"memberId": ONE})
        members = [{"memberId": TWO, "metadata": b"a"}, {"memberId": ONE, "metadata": b"a"}]
        one = self.normal({"members": members})
        self.assertEqual(self.normal({"members": members[::-1]}), one)
        self.assertEqual(self.normal({"memberId": TWO})["memberId"], "<member 2: client-uuid>")

    def test_the_name_of_the_run_is_taken_out_of_bytes(self):
        self.assertEqual(self.normal({"metadata": b"r1234567-topic"}), {"metadata": "UlVOLXRvcGlj"})


if __name__ == "__main__":
    unittest.main()
